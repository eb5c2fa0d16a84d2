"""NE16, the accelerator of GAP9 and of PULP-open."""

from uma_backends.ne16.backend import Ne16Backend

__all__ = ["Ne16Backend"]
