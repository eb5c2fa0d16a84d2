"""What transfers, steps and generated kernels are expected to take."""
