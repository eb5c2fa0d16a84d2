"""Step records: the synchronised TIR main as tables for the executor, in the words of `tvm_pulp/steps.h`."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

from tvm_pulp.codegen.model_text import safe
from tvm_pulp.codegen.state_source import StateRows
from tvm_pulp.codegen.table_addresses import TableAddresses
from tvm_pulp.planning.program.actions import Action, Begin, Step, Wait
from tvm_pulp.planning.program.positions import BOOT
from tvm_pulp.planning.program.step_record import (
    AGENTS,
    COMMAND_WORDS,
    END_WORDS,
    FETCH_ROWS_WORDS,
    FETCH_WORDS,
    GROUP_WORDS,
    RECORD_WORDS,
    SUBMIT_WORDS,
    transfer_words,
)
from tvm_pulp.planning.tiling.schedule.lay_out import page_at
from tvm_pulp.planning.tiling.schedule.program import Bundle
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.planning.tir.statements import BeginLayer, CallKernel, FetchBytes, MoveBytes, SubmitJob

# Words from a record to commands that its byte can tell.
_FURTHEST_COMMANDS = 255
# Behind the last step.
_END = Step(position=None, waits=(), barrier=False, actions=())


@dataclass(frozen=True)
class Command:
    """One command of an agent: C text, the words that it makes, and what it is about."""

    text: str
    words: int
    about: str = ""

    @property
    def line(self) -> str:
        return f"{self.text}, /* {safe(self.about, 200)} */" if self.about else f"{self.text},"


@dataclass(frozen=True)
class Record:
    """One step: commands by agent, the layer that begins with it, and the step that follows, for which it waits."""

    number: int
    position: int
    page: Bundle
    step: Step
    following: Step
    mark: int | None
    commands: dict[int, list[Command]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"step_{self.number}"

    @property
    def call(self) -> CallKernel | None:
        """The kernel of the step."""
        return next((made for made in self.step.actions if isinstance(made, CallKernel)), None)

    def lists(self) -> list[tuple[str, int, list[Command]]]:
        """Member, agent and commands, as they lie behind the record.

        The longest list is the last one: the place of its beginning counts, not that of its end.
        """
        start, found = RECORD_WORDS, []
        for agent, commands in sorted(self.commands.items(), key=lambda entry: sum(c.words for c in entry[1])):
            if start > _FURTHEST_COMMANDS or agent >= AGENTS:
                raise RuntimeError(f"step {self.position}: commands of agent {agent} begin at word {start}")
            start += sum(c.words for c in commands) + END_WORDS
            found.append((f"{self.name}_core_{agent}", agent, commands))
        return found


@dataclass(frozen=True)
class StepTable:
    """The records of a program. `submit(slot)` names the driver's function, `member(slot)` its structure."""

    lowered: LoweredPlan
    addresses: TableAddresses
    rows: StateRows
    submit: Callable[[int], str]
    member: Callable[[int], str]

    @property
    def boot(self) -> list[Wait | Action]:
        """Actions and waits of the entry function: all before the first record."""
        booted = [step for step in self.lowered.program if step.position == BOOT]
        return [*(made for s in booted for made in (*s.waits, *s.actions)), *self.lowered.program[len(booted)].waits]

    @cached_property
    def records(self) -> list[Record]:
        """All in order."""
        program, pages = self.lowered.program, self.lowered.plan.schedule.pages
        marks = {made.position: made.index for made in self.lowered.statements if isinstance(made, BeginLayer)}
        found: list[Record] = []
        for step, following in zip_longest(program, program[1:], fillvalue=_END):
            at = step.position
            if pages and at is not None and at != BOOT:
                found.append(Record(len(found), at, page_at(at, pages), step, following, marks.get(at)))
                for made in step.actions:
                    self._add(found[-1].commands, made)
        return found

    def _add(self, commands: dict[int, list[Command]], made: Action) -> None:
        """Add the command of an action, unless it is the call."""
        match made:
            case FetchBytes() if made.state:
                command = Command(
                    f"L3_LOAD_ROWS({self.rows.ticket}, load_rows, {self.rows.symbol(made)})", FETCH_ROWS_WORDS
                )
            case FetchBytes():
                place, size = self.addresses.fetched(made), made.writes[0].bytes
                command = Command(f"L3_LOAD({size}u, {place}, {made.offset}u)", FETCH_WORDS)
            case Begin():
                command = Command(f"TRANSFERS({made.group})", GROUP_WORDS)
            case SubmitJob():
                page = self.lowered.plan.schedule.pages[made.slot]
                told = f"{made.ticket}, {self.submit(made.slot)}, {page.name}, {self.member(made.slot)}"
                command = Command(f"SUBMIT({told})", SUBMIT_WORDS)
            case MoveBytes():
                command = self._transfer(made)
            case _:
                return
        agent = made.agent if isinstance(made, Begin | MoveBytes) else 0
        commands.setdefault(agent, []).append(command)

    def _transfer(self, made: MoveBytes) -> Command:
        """A command of the DMA."""
        move = self.lowered.plan.schedule.moves[made.move]
        about, local, size = self.addresses.about(move), self.addresses.local(move, made.local), made.bytes
        if made.external is None:
            return Command(f"DMA_LOAD({size}u, {local}, {bundle_part(made)})", COMMAND_WORDS, about)
        base = self.addresses.base(made.external)
        if made.counter:
            counter = self.addresses.base_name(self.lowered.tables.tensors[made.counter])
            told = f"{base}, {size}u, {local}, {made.row}u, {counter}"
            return Command(f"DMA_LOAD_ROWS_OF({told})", COMMAND_WORDS, about)
        lines = [1, made.apart] if made.apart else [] if made.line is None else [made.line, made.stride]
        macro = f"DMA_{made.do.upper()}{'_LINES' if lines else ''}{'_OF' if base else ''}"
        values = [f"{size}u", local, self.addresses.outside(move, made.external), *(f"{n}u" for n in lines)]
        words = transfer_words(lines=bool(lines))
        return Command(f"{macro}({', '.join([base, *values] if base else values)})", words, about)


def bundle_part(made: MoveBytes) -> str:
    """The address of the part of a bundle that a transfer brings."""
    return f"(const uint8_t *)&bundle_{made.bundle} + {made.offset}" if made.offset else f"&bundle_{made.bundle}"
