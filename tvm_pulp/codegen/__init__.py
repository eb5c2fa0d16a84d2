"""C emission: kernels, weights, the run function, the archive."""
