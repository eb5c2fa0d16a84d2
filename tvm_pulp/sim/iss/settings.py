"""The numbers of the C simulator: those of the SoC's description, under its names.

`memory.l2.latency` of the description is `memory_l2_latency` in C. c_runtime/iss/config_fields.h, which `fields_header`
writes, holds names and ranges; no value stands in C.
"""

import textwrap
from collections.abc import Iterator
from fractions import Fraction

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tvm_pulp.soc.description import Soc

SECTIONS = ("cluster", "controller", "memory", "timing", "scoreboard", "tiles", "icache", "events", "dma")
# The schema allows one value of these, and all cores decode what those of the cluster do.
NOT_SIMULATED = frozenset(
    {
        "controller_isa_xpulp",
        "memory_l1_latency",
        "memory_l1_private_bytes",
        "memory_weight_banks",
        "memory_weight_conflicts",
        "memory_weight_private_bytes",
    }
)
_LARGEST = (1 << 32) - 1
_WIDTH = 116


def simulator_settings(soc: Soc, trace: bool, *, observe: bool = False, check_reads: bool = False) -> dict[str, int]:
    """Every number that the simulator needs, by its name in the C configuration."""
    return {name: value for name, value, _ in _described(soc)} | {
        name: value for name, value, _ in _derived(soc, trace, observe, check_reads)
    }


def _described(soc: Soc) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """Name, value and range of each number that the simulator takes as it stands in the description."""
    for section in SECTIONS:
        for name, value, limits in _numbers(getattr(soc, section), section):
            if name not in NOT_SIMULATED:
                yield name, value, limits


def _derived(soc: Soc, trace: bool, observe: bool, check_reads: bool) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """The same for numbers that are computed from the description, and for what a run wants to see."""
    ratio = Fraction(soc.clock.cluster_mhz / soc.clock.soc_mhz).limit_denominator(1000)
    reference = round(soc.clock.cluster_mhz * 1000 / soc.clock.reference_khz)
    yield "soc_clock_numerator", ratio.numerator, (1, 10000)
    yield "soc_clock_denominator", ratio.denominator, (1, 10000)
    yield "reference_clock_divider", max(1, reference), (1, _LARGEST)
    for way in ("read", "write"):
        cycles = getattr(soc.memory.l3, f"{way}_cycles_per_byte")
        yield f"memory_l3_{way}_millicycles_per_byte", round(cycles * 1000), (0, _LARGEST)
    kind = soc.cluster.kind
    switches = {"bare": kind.bare, "core_is_snitch": kind.scoreboard, "core_is_pool": kind.tiles, "trace": trace}
    switches |= {"observe": observe or check_reads, "check_reads": check_reads}
    for name, value in switches.items():
        yield name, int(value), (0, 1)


def _numbers(section: BaseModel, prefix: str) -> Iterator[tuple[str, int, tuple[int, int]]]:
    """Integers and switches of a section and of those inside it."""
    for name, field in type(section).model_fields.items():
        path, value = f"{prefix}_{name}", getattr(section, name)
        if isinstance(value, BaseModel):
            yield from _numbers(value, path)
        elif isinstance(value, int):
            yield path, int(value), _range(field, isinstance(value, bool))


def _range(field: FieldInfo, is_switch: bool) -> tuple[int, int]:
    """The least and the largest value that the schema allows."""
    least, most = 0, 1 if is_switch else _LARGEST
    for limit in field.metadata:
        least, most = getattr(limit, "ge", least), getattr(limit, "le", most)
    return least, most


def fields_header() -> str:
    """The text of c_runtime/iss/config_fields.h."""
    soc = Soc(name="any", simulated=False)
    fields = [*_described(soc), *_derived(soc, False, False, False)]
    items = " ".join(f"X({name},{least},{_limit(most)})" for name, _, (least, most) in fields)
    lines = ["#define CONFIG_FIELDS(X)", *textwrap.wrap(items, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    table = " \\\n".join([*(f"{line:{_WIDTH}}" for line in lines[:-1]), lines[-1]])
    return f"""/* SPDX-License-Identifier: Apache-2.0
 *
 * What the simulator is told, with the least and the largest value of each number. Made by tvm_pulp/sim/iss/settings.py
 * from the form of SoC descriptions, whose names these are. */
#ifndef ISS_CONFIG_FIELDS_H
#define ISS_CONFIG_FIELDS_H

{table}

#endif /* ISS_CONFIG_FIELDS_H */
"""


def _limit(value: int) -> str:
    return "UINT32_MAX" if value == _LARGEST else str(value)
