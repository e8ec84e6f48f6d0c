"""What goes wrong while somebody takes part, and somebody who takes part all the same."""
