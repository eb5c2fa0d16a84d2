"""ITA, the integer transformer accelerator."""
