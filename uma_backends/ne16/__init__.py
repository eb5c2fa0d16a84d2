"""NE16, the accelerator of GAP9 and of PULP-open: packing, registers, timing, C model and driver."""
