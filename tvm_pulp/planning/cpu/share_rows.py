"""Layers in parts that threads compute side by side: as many strips of rows each, of which none needs another."""

from tvm_pulp.planning.cpu.strips import Stage, can_be_cut
from tvm_pulp.qnn.network import Network

# Multiply-accumulates of a part that are worth waking a thread: about ten microseconds of a host.
_LEAST = 125_000


def share_rows(network: Network, threads: int) -> dict[str, int]:
    """Parts by the names of the larger layers."""
    found = {}
    for index, layer in enumerate(network.layers):
        rows = layer.outputs[0].spec.shape[1] if can_be_cut(layer) else 1
        parts = min(threads, rows, layer.macs // _LEAST)
        if parts > 1 and Stage(network, index, index).fits(parts):
            found[layer.name] = parts
    return found
