"""Findings of the stages, for people and tools; one public module per kind of report."""

__all__ = [
    "inputs",
    "plan_pictures",
    "plan_table",
    "report",
    "rich_display",
    "scatter",
    "table",
]
