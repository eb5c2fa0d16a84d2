"""Quantized networks to bare-metal C for heterogeneous RISC-V chips."""

from __future__ import annotations

__version__ = "0.1.0"
