"""Plans made by the constraint solver."""
