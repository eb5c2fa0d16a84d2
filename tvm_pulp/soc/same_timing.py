"""SoCs that differ in nothing but time: one serves as the other where a machine must be like another simulator's."""

from collections.abc import Iterator
from typing import Any

from tvm_pulp.soc.description import Soc

_SECTIONS = ("clock", "timing", "scoreboard", "icache", "events", "dma")
# Keys of a memory that say where it is, not how fast.
_PLACE = ("base", "size", "private_bytes")
_NOT_THE_MACHINE = ("name", "description", "energy", "area")


def timing_settings(soc: Soc, like: Soc) -> dict[str, Any]:
    """Settings, where they differ, by which a SoC takes as long as another one; engines are left as they are."""
    ours, theirs = dict(_timing(soc)), dict(_timing(like))
    return {path: value for path, value in theirs.items() if ours[path] != value}


def differs_in_time_only(soc: Soc, other: Soc) -> bool:
    """Tell if programs for one SoC are programs for the other: memories, cores and engines are the same."""
    made = soc.with_settings(timing_settings(soc, other)).model_dump()
    return all(made[key] == value for key, value in other.model_dump().items() if key not in _NOT_THE_MACHINE)


def _timing(soc: Soc) -> Iterator[tuple[str, Any]]:
    content = soc.model_dump()
    for section in _SECTIONS:
        yield from ((f"{section}.{key}", value) for key, value in content[section].items())
    for level, memory in content["memory"].items():
        yield from ((f"memory.{level}.{key}", value) for key, value in memory.items() if key not in _PLACE)
