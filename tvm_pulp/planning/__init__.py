"""From layers to a verified plan: lowering, tiling, the program in TIR, its estimate, its check, and the search."""

from __future__ import annotations

__all__ = ["check", "estimate", "lowering", "program", "search", "tiling", "tir"]
