"""The command line: `main`, and one module per verb."""

__all__ = [
    "compile",
    "explain",
    "main",
    "plan",
    "run",
    "sim",
    "targets",
    "uma",
]
