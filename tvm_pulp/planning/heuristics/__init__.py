"""Plans made by rules of thumb."""
