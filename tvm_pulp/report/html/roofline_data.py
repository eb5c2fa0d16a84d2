"""The roofline: what each layer reaches beside what its engine and the DMA allow."""

from collections.abc import Mapping
from typing import Any


def roofline_data(report: Mapping[str, Any], dma_bytes_per_cycle: int | None) -> dict[str, Any] | None:
    """Roofs in MACs per cycle by engine, the best that any of its layers could reach; points are drawn from the report.

    None where no layer multiplies or nothing was measured.
    """
    roofs: dict[str, float] = {}
    for layer in report["layers"]:
        if layer["macs"] and layer["bound_cycles"]:
            roofs[layer["engine"]] = max(roofs.get(layer["engine"], 0.0), layer["macs"] / layer["bound_cycles"])
    measured = any(layer["macs"] and layer["cycles"] for layer in report["layers"])
    return {"roofs": roofs, "dma": dma_bytes_per_cycle} if roofs and measured else None
