"""Expected cycles of a described plan."""
