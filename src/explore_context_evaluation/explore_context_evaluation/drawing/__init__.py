"""Small hand-made SVG: sharp at any size, light and dark, a few kilobytes each."""

from explore_context_evaluation.drawing.canvas import PALETTE, Canvas, standalone
from explore_context_evaluation.drawing.chart import Chart, Series
from explore_context_evaluation.drawing.scale import Scale

__all__ = ["PALETTE", "Canvas", "Chart", "Scale", "Series", "standalone"]
