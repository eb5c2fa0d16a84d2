"""Step records: the synchronised TIR main as words for the executor (`tvm_pulp/executor.h`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tvm_pulp.tiling.schedule.constant_bundles import AGENTS, RECORD_WORDS
from tvm_pulp.tiling.schedule.schedule import BOOT, Bundle
from tvm_pulp.tiling.schedule.step_records import page_at
from tvm_pulp.tir import statements as tir
from tvm_pulp.tir.statements import integer, statement_name
from tvm_pulp.tir.tables import Tables

# The command word of the DMA: direction, increment, lines, event.
_TO_L1, _INCREMENT, _TWO_D, _EVENT = 1 << 17, 1 << 18, 1 << 19, 1 << 20
_CODE_2D, _CODE_BEGIN, _CODE_SUBMIT, _CODE_END = 1 << 29, 2 << 29, 3 << 29, 7 << 29
_CODE_FETCH = 4 << 29
_L3_GROUP = 7
_BASE_SHIFT = 21
_FURTHEST_COMMANDS = 255


@dataclass
class Record:
    """One step: words of commands by agent as C expressions, the call, and what follows it."""

    position: int
    page: Bundle
    commands: dict[int, list[str]] = field(default_factory=dict)
    call: Any = None  # statement `call`
    waits: dict[int, int] = field(default_factory=dict)
    ticket: int | None = None
    barrier: bool = False
    mark: int | None = None

    @property
    def bytes(self) -> int:
        return 4 * (RECORD_WORDS + sum(len(c) + 1 for c in self.commands.values()))


@dataclass
class StepTable:
    """All records in order, and the statements of the entry function."""

    boot: list[Any]
    records: list[Record]


class TableBuilder:
    """Turns statements into records. `address(place)` is the C expression of a place, `base` its pointer's number."""

    def __init__(
        self, tables: Tables, address: Callable[[Any], str], base: Callable[[Any], int], submit: Callable[[Any], str]
    ) -> None:
        self._tables, self._address, self._base, self._submit = tables, address, base, submit

    def build(self, function: Any) -> StepTable:
        table = StepTable([], [])
        pages = dict(enumerate(self._tables.plan.schedule.pages))
        if not pages:
            return table
        for made in function.body.seq:
            name = statement_name(made)
            if name == tir.STEP:
                position = integer(made, 0)
                if position != BOOT:
                    table.records.append(Record(position, page_at(position, pages)))
            elif not table.records:
                table.boot.append(made)
            else:
                self._add(table.records[-1], name, made)
        return table

    def _add(self, record: Record, name: str, made: Any) -> None:
        if name == tir.BARRIER:
            record.barrier = True
        elif name == tir.WAIT_DMA:
            agent, group = integer(made, 0), integer(made, 1)
            record.waits[agent] = record.waits.get(agent, 0) | 1 << group
        elif name == tir.WAIT_JOB:
            # Jobs end in order, so the last of several is the one to wait for.
            record.ticket = integer(made, 0)
        elif name == tir.WAIT_L3:
            record.waits[0] = record.waits.get(0, 0) | 1 << _L3_GROUP
        elif name == tir.FETCH:
            words = [self._address(made.value.args[2]), f"{integer(made, 2)}u", f"{integer(made, 3)}u"]
            record.commands.setdefault(0, []).extend([f"{_CODE_FETCH}u", *words])
        elif name == tir.BEGIN:
            record.commands.setdefault(integer(made, 0), []).append(f"{_CODE_BEGIN | integer(made, 1)}u")
        elif name == tir.LAYER:
            record.mark = integer(made, 1)
        elif name == tir.CALL:
            record.call = made
        elif name == tir.SUBMIT:
            words = [f"{_CODE_SUBMIT | integer(made, 3)}u", self._submit(made), self._address(made.value.args[3])]
            record.commands.setdefault(0, []).extend(words)
        elif name.startswith("dma_"):
            record.commands.setdefault(integer(made, 0), []).extend(self._transfer(name, made))

    def _transfer(self, name: str, made: Any) -> list[str]:
        arguments = made.value.args[4:]
        flags = _INCREMENT | _EVENT
        if name == tir.BUNDLE:
            local, number, offset, size = arguments
            external = f"(uint32_t)bundle_{int(number.value)}" + (
                f" + {int(offset.value)}u" if int(offset.value) else ""
            )
            return [f"{flags | _TO_L1 | int(size.value)}u", self._address(local), external]
        target, source, size, *lines = arguments
        outward = name.startswith(tir.STORE)
        local, place = (source, target) if outward else (target, source)
        flags |= (0 if outward else _TO_L1) | (_TWO_D if lines else 0)
        head = flags | int(size.value) | self._base(place) << _BASE_SHIFT | (_CODE_2D if lines else 0)
        words = [f"{head}u", self._address(local), self._address(place)]
        return [*words, *(f"{int(n.value)}u" for n in lines)]


def record_words(record: Record, function: str, arguments: str, next_address: str) -> list[str]:
    """The words of a record, commands behind it."""
    offsets = 0
    body: list[str] = []
    # The longest list last: the place of its beginning counts, not that of its end.
    for agent, commands in sorted(record.commands.items(), key=lambda entry: len(entry[1])):
        start = RECORD_WORDS + len(body)
        if start > _FURTHEST_COMMANDS or agent >= AGENTS:
            raise RuntimeError(f"step {record.position}: commands of agent {agent} begin at word {start}")
        offsets |= start << 8 * agent
        body += [*commands, f"{_CODE_END}u"]
    waits = sum(mask << 8 * agent for agent, mask in record.waits.items())
    control = int(record.barrier)
    control |= (record.ticket + 1) << 8 if record.ticket is not None else 0
    control |= (record.mark + 1) << 16 if record.mark is not None else 0
    return [function, arguments, f"{offsets}u", f"{waits}u", f"{control}u", next_address, *body]
