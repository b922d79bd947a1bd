"""Live views: controls, the function that they call, and a chart that shows its result."""

from workbench.widgets.chart_view import ChartView, Panel, StaticChart, drive, image, panel

__all__ = ["ChartView", "Panel", "StaticChart", "drive", "image", "panel"]
