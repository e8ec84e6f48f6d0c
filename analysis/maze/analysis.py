"""The Maze: self-paced reading in which each word is a choice."""

from dataclasses import replace

from analysis.maze.accuracy import MAZE_ACCURACY
from analysis.responses.reading import SELF_PACED_ANALYSIS

_times, *_models = SELF_PACED_ANALYSIS.findings
MAZE_ANALYSIS = replace(
    SELF_PACED_ANALYSIS,
    name="maze",
    asked=replace(SELF_PACED_ANALYSIS.asked, asked="choice at each word of the one that goes on"),
    findings=(_times, MAZE_ACCURACY, *_models),
)
