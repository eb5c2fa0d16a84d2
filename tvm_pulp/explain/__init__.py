"""`tvmc explain`: what the compiler makes of a model, why, and which change would save most."""

from __future__ import annotations

__all__ = ["explain", "explain_plan", "suggestions"]
