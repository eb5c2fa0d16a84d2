"""The driver that searches for a plan."""
