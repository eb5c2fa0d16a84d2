"""Device `qemu`: programs for CPUs on boards that QEMU emulates, with their instructions counted."""

__all__ = ["runner"]
