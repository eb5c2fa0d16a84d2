"""Language models: decoders as networks with state, the C around their programs, and text that they generate."""

from __future__ import annotations

__all__ = ["decoder", "exported", "generation"]
