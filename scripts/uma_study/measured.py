"""What a run showed, and what follows from two of them."""

from dataclasses import dataclass
from typing import Any

_SUMS, _BYTES = "_sums", "_bytes"


@dataclass(frozen=True)
class Measured:
    """One inference. `layers` are those of the report."""

    instructions: int
    cycles: int
    simulation_seconds: float
    is_exact: bool
    layers: list[dict[str, Any]]

    @property
    def macs(self) -> int:
        return sum(layer["macs"] or 0 for layer in self.layers)

    def macs_on(self, engine: str) -> int:
        return sum(layer["macs"] or 0 for layer in self.layers if layer["engine"] == engine)


def offloaded_layers(accelerated: Measured) -> list[str]:
    """Names, in the network for the CPU alone, of layers that QVanilla took over."""
    return [x["name"].removesuffix(_SUMS) for x in accelerated.layers if x["engine"] == "qvanilla"]


def possible_saving(alone: Measured, accelerated: Measured) -> int:
    """What offloading these layers can save at all: what they take on the CPU less requantization, which stays there.

    Cycles of layers are instructions: an instruction takes one cycle.
    """
    names = set(offloaded_layers(accelerated))
    taken = {x["name"]: x["cycles"] for x in alone.layers if x["name"] in names}
    if len(taken) != len(names):
        raise ValueError(f"layers {sorted(names - set(taken))} are not in the network of the CPU alone")
    left = {x["name"]: x["cycles"] for x in accelerated.layers if x["name"].removesuffix(_BYTES) in names}
    return sum(taken.values()) - sum(cycles for name, cycles in left.items() if name.endswith(_BYTES))


def saving(alone: Measured, accelerated: Measured) -> int:
    return alone.instructions - accelerated.instructions
