"""C and archives. Public modules: `emit` for the host, `emit_cluster` for a SoC, `mlf` for the archive itself."""

__all__ = [
    "emit",
    "emit_cluster",
    "mlf",
]
