"""Read published judgments of other sources into the form of an exported run."""
