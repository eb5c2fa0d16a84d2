"""`tvmc explain`: what the compiler makes of a model, why, and which change would save most."""

__all__ = ["explain", "explain_plan", "suggestions"]
