"""Engines that a SoC can carry: registers where cores reach them, operands where engines do, a way to see their end."""

from tvm_pulp.soc.description import Soc

# Bits of an address that count in L1 are 20.
_LARGEST_L1 = 1 << 20


def why_not_carried(soc: Soc, name: str) -> str | None:
    """The reason why a SoC cannot carry an engine of its description, and the way out; None: it can."""
    engine, memory, kind = soc.engines[name], soc.memory, soc.cluster.kind
    key = f"engines.{name}"
    if not memory.l1.size:
        return "it has no L1, where engines have their operands: give memory.l1.base and memory.l1.size"
    if memory.l1.size > _LARGEST_L1:
        return f"engines address 1 MiB of L1, and it has {memory.l1.size} bytes: choose a smaller memory.l1.size"
    for level, place in (("l1", memory.l1), ("l2", memory.l2), ("weight", memory.weight)):
        if place.base <= engine.base < place.base + place.size:
            return f"{key}.base {engine.base:#x} lies in memory.{level}: choose an address that is free"
    for other, described in soc.engines.items():
        if other != name and described.base == engine.base:
            return f"{key}.base {engine.base:#x} is that of {other} too: choose an address that is free"
    slots = [(memory.l1.base + begin, memory.l1.base + end) for begin, end in kind.engine_registers]
    if slots and not any(begin <= engine.base < end for begin, end in slots):
        free = " or ".join(f"{begin:#x} to {end - 1:#x}" for begin, end in slots)
        return f"its cores do not reach {key}.base {engine.base:#x}: choose {free}"
    if kind.engine_events and engine.event_line not in kind.engine_events:
        line, lines = f"{key}.event_line {engine.event_line}", ", ".join(map(str, kind.engine_events))
        return f"its cores sleep, and {line} is no event of engines: choose one of {lines}"
    return None
