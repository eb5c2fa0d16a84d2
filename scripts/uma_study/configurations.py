"""What the study measures: networks, machines, and what was published about them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Configuration:
    """One machine: a backend of MLonMCU, its target, and what it is told."""

    name: str
    backend: str
    target: str
    settings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """Of the study on a virtual prototype: instructions of the CPU alone, what the accelerator saves of them in per
    cent, and the share of the MACs that it takes over, in per cent."""

    instructions: float
    saved: float
    offloaded: float


NETWORKS = {
    "resnet": Published(5.73e7, 75, 79.0),
    "vww": Published(4.12e7, 65, 82.7),
    "kws": Published(1.43e7, 63, 77),
}
CPU = Configuration("CPU", "tvmpulp_c", "tvmpulp_mcu")
QVANILLA = Configuration("CPU + QVanilla", "tvmpulp_qvanilla", "tvmpulp_mcu")
CLUSTER = Configuration("eight cores", "tvmpulp_c", "tvmpulp_siracusa")
NEUREKA = Configuration("eight cores + NEUREKA", "tvmpulp_neureka", "tvmpulp_siracusa")
# Frequency that cycles of the microcontroller are turned into time with: that of its SoC description.
MCU_MHZ = 100.0


def timed(cost: int) -> Configuration:
    """QVanilla that takes some cycles for each product."""
    settings = {"tvmpulp_qvanilla.variant": "timed", "tvmpulp_qvanilla.cycles_per_mac": str(cost)}
    return Configuration(f"QVanilla, {cost} cycles/MAC", QVANILLA.backend, QVANILLA.target, settings)


def all_configurations(costs: list[int]) -> list[Configuration]:
    """In the order of the tables."""
    return [CPU, QVANILLA, *map(timed, costs), CLUSTER, NEUREKA]
