"""Layers as calls of a CPU's blocked kernels: constants in the order of use, and rules that take few instructions."""

__all__ = ["call_add", "call_attention", "call_kernels", "fit_rule", "kernel_call", "pack_weights"]
