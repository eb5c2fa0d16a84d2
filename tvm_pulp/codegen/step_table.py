"""Step records: the synchronised TIR main as tables for the executor, in the words of `tvm_pulp/steps.h`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tvm_pulp.codegen.comment import safe
from tvm_pulp.codegen.state_source import StateRows
from tvm_pulp.codegen.table_addresses import TableAddresses
from tvm_pulp.planning.tiling.schedule.constant_bundles import AGENTS, RECORD_WORDS
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle
from tvm_pulp.planning.tiling.schedule.step_records import page_at
from tvm_pulp.planning.tir import statements as tir
from tvm_pulp.planning.tir.statements import integer, statement_name
from tvm_pulp.planning.tir.tables import Tables

# Words from a record to commands that its byte can tell.
_FURTHEST_COMMANDS = 255


@dataclass(frozen=True)
class Command:
    """One command of an agent: C text, the words that it makes, and what it is about."""

    text: str
    words: int
    about: str = ""

    @property
    def line(self) -> str:
        return f"{self.text}, /* {safe(self.about, 200)} */" if self.about else f"{self.text},"


@dataclass
class Record:
    """One step: commands by agent, the call, and what follows it."""

    number: int
    position: int
    page: Bundle
    commands: dict[int, list[Command]] = field(default_factory=dict)
    call: Any = None  # statement `call`
    waits: dict[int, int] = field(default_factory=dict)
    wait_l3: bool = False
    tickets: list[int] = field(default_factory=list)
    barrier: bool = False
    mark: int | None = None

    @property
    def name(self) -> str:
        return f"step_{self.number}"

    @property
    def bytes(self) -> int:
        return 4 * (RECORD_WORDS + sum(sum(c.words for c in commands) + 1 for commands in self.commands.values()))

    def lists(self) -> list[tuple[str, int, list[Command]]]:
        """Member, agent and commands, as they lie behind the record.

        The longest list is the last one: the place of its beginning counts, not that of its end.
        """
        start, found = RECORD_WORDS, []
        for agent, commands in sorted(self.commands.items(), key=lambda entry: sum(c.words for c in entry[1])):
            if start > _FURTHEST_COMMANDS or agent >= AGENTS:
                raise RuntimeError(f"step {self.position}: commands of agent {agent} begin at word {start}")
            start += sum(c.words for c in commands) + 1
            found.append((f"{self.name}_core_{agent}", agent, commands))
        return found


@dataclass
class StepTable:
    """All records in order, and the statements of the entry function."""

    boot: list[Any]
    records: list[Record]


class TableBuilder:
    """Turns statements into records. `submit(statement)` names the driver's function, `member(slot)` its structure."""

    def __init__(
        self,
        tables: Tables,
        addresses: TableAddresses,
        rows: StateRows,
        submit: Callable[[Any], str],
        member: Callable[[int], str],
    ) -> None:
        self._tables, self._addresses, self._rows, self._submit, self._member = tables, addresses, rows, submit, member

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
                    table.records.append(Record(len(table.records), position, page_at(position, pages)))
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
            record.tickets.append(integer(made, 0))
        elif name == tir.WAIT_L3:
            record.wait_l3 = True
        elif name == tir.LAYER:
            record.mark = integer(made, 1)
        elif name == tir.CALL:
            record.call = made
        elif name == tir.FETCH:
            place, offset, size = self._addresses.fetched(made), integer(made, 2), integer(made, 3)
            self._issue(record, 0, Command(f"L3_LOAD({size}u, {place}, {offset}u)", 4))
        elif name == tir.FETCH_ROWS:
            rows = self._rows.symbol(made)
            self._issue(record, 0, Command(f"L3_LOAD_ROWS({self._rows.ticket}, load_rows, {rows})", 3))
        elif name == tir.BEGIN:
            self._issue(record, integer(made, 0), Command(f"TRANSFERS({integer(made, 1)})", 1))
        elif name == tir.SUBMIT:
            slot = integer(made, 1)
            page = self._tables.plan.schedule.pages[slot]
            arguments = f"{integer(made, 3)}, {self._submit(made)}, {page.name}, {self._member(slot)}"
            self._issue(record, 0, Command(f"SUBMIT({arguments})", 3))
        elif name.startswith("dma_"):
            self._issue(record, integer(made, 0), self._transfer(name, made))

    def _issue(self, record: Record, agent: int, command: Command) -> None:
        record.commands.setdefault(agent, []).append(command)

    def _transfer(self, name: str, made: Any) -> Command:
        """A command of the DMA: `local` is its side in L1."""
        move, arguments = self._tables.moves[integer(made, 2)], made.value.args[4:]
        about = self._addresses.about(move)
        if name == tir.BUNDLE:
            local, number, offset, size = arguments
            source = f"&bundle_{int(number.value)}"
            if int(offset.value):
                source = f"(const uint8_t *){source} + {int(offset.value)}"
            return Command(f"DMA_LOAD({int(size.value)}u, {self._addresses.local(move, local)}, {source})", 3, about)
        target, source, size, *lines = arguments
        outward = name.startswith(tir.STORE)
        local, place = (source, target) if outward else (target, source)
        base = self._addresses.base(place)
        macro = f"DMA_{'STORE' if outward else 'LOAD'}{'_LINES' if lines else ''}{'_OF' if base else ''}"
        outside = self._addresses.outside(move, place)
        values = [f"{int(size.value)}u", self._addresses.local(move, local), outside]
        values = [*([base] if base else []), *values, *(f"{int(n.value)}u" for n in lines)]
        return Command(f"{macro}({', '.join(values)})", 3 + len(lines), about)
