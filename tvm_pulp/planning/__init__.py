"""From layers to a verified plan: lowering, tiling, the program in TIR, its estimate, its check, and the search."""

__all__ = ["check", "cpu", "estimate", "lowering", "program", "search", "tiling", "tir"]
