"""What runs in which order, and what moves when."""
