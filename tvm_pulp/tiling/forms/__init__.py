"""The ways to run a layer, and their cuts."""
