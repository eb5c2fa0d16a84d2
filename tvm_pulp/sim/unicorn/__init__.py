"""Device `unicorn`: programs for CPUs in the emulator of that name, with their instructions counted."""

__all__ = ["runner"]
