"""Variations of a SoC, and their descriptions as files."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from tvm_pulp import soc

BASE = "siracusa"
# What is changed, as dotted settings. L2 far away is far away for cores, code and the DMA alike.
MACHINES: dict[str, dict[str, object]] = {
    "default": {},
    "DMA 4 B/cycle": {"dma.bytes_per_cycle": 4},
    "DMA 32 B/cycle": {"dma.bytes_per_cycle": 32},
    "L2 latency 40": {"memory.l2.latency": 40, "icache.refill": 43, "dma.l2_read_latency": 25},
    "16 cores": {"cluster.cores": 16},
    "4 cores": {"cluster.cores": 4},
    "L1 64 kB": {"memory.l1.size": 0x10000},
    "L1 1 MB": {"memory.l1.size": 0x100000},
    "caches halved": {"icache.private_sets": 4, "icache.shared_sets": 32},
}


def description_file(folder: Path, settings: Mapping[str, object]) -> str:
    """A description of its own for a variation; the default machine has one already."""
    if not settings:
        return BASE
    name = re.sub(r"\W+", "-", "-".join(f"{key.split('.')[-1]}{value}" for key, value in settings.items()))
    content = soc.load(BASE).with_settings(settings).model_dump(mode="json") | {"name": name}
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML
    return str(path)
