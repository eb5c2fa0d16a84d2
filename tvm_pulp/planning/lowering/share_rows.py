"""Layers in parts that threads compute side by side: as many strips of rows each, of which none needs another."""

from dataclasses import replace

from tvm_pulp.planning.lowering.strips import Stage, can_be_cut
from tvm_pulp.qnn.network import Network

# Multiply-accumulates of a part that are worth waking a thread: about ten microseconds of a host.
_LEAST = 125_000


def share_rows(network: Network, threads: int) -> tuple[Network, list[int]]:
    """The network with its larger layers in parts, and how many layers follow each other as parts of one."""
    layers, groups = [], []
    for index, layer in enumerate(network.layers):
        rows = layer.outputs[0].spec.shape[1] if can_be_cut(layer) else 1
        parts = min(threads, rows, layer.macs // _LEAST)
        whole = Stage(network, index, index)
        parts = parts if parts > 1 and whole.fits(parts) else 1
        cut = whole.in_strips(parts)[0].layers if parts > 1 else network.layers
        layers += cut[index : index + parts]
        groups.append(parts)
    return replace(network, layers=layers), groups
