"""Step records: the synchronised TIR main as tables for the executor, in the words of `tvm_pulp/steps.h`."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tvm_pulp.codegen.model_text import safe
from tvm_pulp.codegen.state_source import StateRows
from tvm_pulp.codegen.table_addresses import TableAddresses
from tvm_pulp.planning.program.actions import Begin, WaitForJob, WaitForL3, WaitForTransfers
from tvm_pulp.planning.tiling.schedule.constant_bundles import AGENTS, RECORD_WORDS
from tvm_pulp.planning.tiling.schedule.schedule import BOOT, Bundle
from tvm_pulp.planning.tiling.schedule.step_records import page_at
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.planning.tir.statements import (
    Barrier,
    BeginLayer,
    BeginStep,
    CallKernel,
    FetchBytes,
    MoveBytes,
    Statement,
    SubmitJob,
)

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
    call: CallKernel | None = None
    waits: dict[int, int] = field(default_factory=dict)
    wait_l3: bool = False
    tickets: list[int] = field(default_factory=list)
    meeting: int = 0  # the team that meets behind it
    mark: int | None = None

    @property
    def name(self) -> str:
        return f"step_{self.number}"

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

    boot: list[Statement]
    records: list[Record]


@dataclass(frozen=True)
class TableBuilder:
    """Turns statements into records. `submit(slot)` names the driver's function, `member(slot)` its structure."""

    lowered: LoweredPlan
    addresses: TableAddresses
    rows: StateRows
    submit: Callable[[int], str]
    member: Callable[[int], str]

    def build(self) -> StepTable:
        table = StepTable([], [])
        pages = self.lowered.plan.schedule.pages
        if not pages:
            return table
        for made in self.lowered.statements:
            if isinstance(made, BeginStep):
                if made.position != BOOT:
                    table.records.append(Record(len(table.records), made.position, page_at(made.position, pages)))
            elif not table.records:
                table.boot.append(made)
            else:
                self._add(table.records[-1], made)
        return table

    def _add(self, record: Record, made: Statement) -> None:
        match made:
            case Barrier():
                record.meeting = made.team
            case WaitForTransfers():
                record.waits[made.agent] = record.waits.get(made.agent, 0) | 1 << made.group
            case WaitForJob():
                record.tickets.append(made.ticket)
            case WaitForL3():
                record.wait_l3 = True
            case BeginLayer():
                record.mark = made.index
            case CallKernel():
                record.call = made
            case FetchBytes() if made.state:
                rows = self.rows.symbol(made)
                self._issue(record, 0, Command(f"L3_LOAD_ROWS({self.rows.ticket}, load_rows, {rows})", 3))
            case FetchBytes():
                place, size = self.addresses.fetched(made), made.writes[0].bytes
                self._issue(record, 0, Command(f"L3_LOAD({size}u, {place}, {made.offset}u)", 4))
            case Begin():
                self._issue(record, made.agent, Command(f"TRANSFERS({made.group})", 1))
            case SubmitJob():
                page = self.lowered.plan.schedule.pages[made.slot]
                told = f"{made.ticket}, {self.submit(made.slot)}, {page.name}, {self.member(made.slot)}"
                self._issue(record, 0, Command(f"SUBMIT({told})", 3))
            case MoveBytes():
                self._issue(record, made.agent, self._transfer(made))

    def _issue(self, record: Record, agent: int, command: Command) -> None:
        record.commands.setdefault(agent, []).append(command)

    def _transfer(self, made: MoveBytes) -> Command:
        """A command of the DMA."""
        move = self.lowered.plan.schedule.moves[made.move]
        about, local, size = self.addresses.about(move), self.addresses.local(move, made.local), made.inside.bytes
        if made.external is None:
            return Command(f"DMA_LOAD({size}u, {local}, {bundle_part(made)})", 3, about)
        base, outside = self.addresses.base(made.external), made.outside
        if made.counter:
            counter = self.addresses.base_name(self.lowered.tables.tensors[made.counter])
            told = f"{base}, {size}u, {local}, {made.row}u, {counter}"
            return Command(f"DMA_LOAD_ROWS_OF({told})", 3, about)
        lines = [] if outside is None or outside.line is None else [outside.line, outside.stride]
        lines = [1, made.apart] if made.apart else lines
        macro = f"DMA_{made.do.upper()}{'_LINES' if lines else ''}{'_OF' if base else ''}"
        values = [f"{size}u", local, self.addresses.outside(move, made.external), *(f"{n}u" for n in lines)]
        return Command(f"{macro}({', '.join([base, *values] if base else values)})", 3 + len(lines), about)


def bundle_part(made: MoveBytes) -> str:
    """The address of the part of a bundle that a transfer brings."""
    assert made.bundle is not None
    number, offset = made.bundle
    return f"(const uint8_t *)&bundle_{number} + {offset}" if offset else f"&bundle_{number}"
