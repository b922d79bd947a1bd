"""Live views: controls, the function they drive, and a chart that is fed with its result."""

from workbench.widgets.chart_view import ChartView, Panel, StaticChart, drive, image, panel

__all__ = ["ChartView", "Panel", "StaticChart", "drive", "image", "panel"]
