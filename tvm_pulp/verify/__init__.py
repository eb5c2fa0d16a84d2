"""Independent check of a described plan."""
