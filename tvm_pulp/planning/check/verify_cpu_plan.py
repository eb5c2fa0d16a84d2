"""The verifier of plans for a CPU by itself: reads only the described plan and the CPU, and runs it on paper.

It knows of every byte of the arena which tensor's it is: a function must find what it reads, and may write over an
operand only where it says so. It returns a list of sentences, one per fault; an empty list is a clean plan.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from tvm_pulp.planning.check.places import check_places
from tvm_pulp.planning.program.cpu_plan_record import CpuPlanJson, CpuStep, Touch
from tvm_pulp.soc.cpu import Cpu

# First byte and the one behind the last.
_Range = tuple[int, int]
# What the arena is called; no tensor has such a name.
_ARENA = "the arena"
# Variables of the start-up code, and what sections are filled up with.
_START_UP = 64


def verify_cpu_plan(plan: CpuPlanJson, cpu: Cpu | None) -> list[str]:
    """All faults of a plan; `cpu`: None where nothing is known of the machine."""
    faults = check_places("buffer", plan.buffers, plan.arena_bytes, "lies outside the arena")
    faults += _check_tensors(plan)
    faults += _check_capacity(plan, cpu)
    faults += _check_layers(plan)
    run = _Run(plan)
    for _, steps in groupby(plan.program, lambda step: step.moment):
        faults += run.moment(list(steps))
    return [*faults, *run.end()]


def _check_tensors(plan: CpuPlanJson) -> Iterator[str]:
    """Tensors lie in their buffers."""
    buffers = {place.name: place for place in plan.buffers}
    for held in plan.tensors:
        place = buffers.get(held.buffer)
        if place is None:
            yield f"tensor {held.name} lies in buffer {held.buffer}, which does not exist"
        elif held.offset < place.offset or held.offset + held.bytes > place.offset + place.bytes:
            yield f"tensor {held.name} reaches beyond buffer {held.buffer}"


def _check_capacity(plan: CpuPlanJson, cpu: Cpu | None) -> Iterator[str]:
    """Memories hold what the plan puts there."""
    ends = sum(end.bytes for end in (*plan.inputs, *plan.outputs))
    needed, room = plan.arena_bytes + ends, plan.ram_limit
    if cpu is not None and cpu.hal:
        needed += cpu.stack_bytes + _START_UP
        room = cpu.ram.size if room is None else min(room, cpu.ram.size)
        constants = sum(constant.bytes for constant in plan.constants)
        flash = cpu.flash.size if plan.flash_limit is None else min(plan.flash_limit, cpu.flash.size)
        if constants > flash:
            yield f"constants take {constants} bytes, and there are {flash} bytes of flash"
    if room is not None and needed > room:
        yield f"activations, ends and stack take {needed} bytes, and there are {room} bytes of RAM"


def _check_layers(plan: CpuPlanJson) -> Iterator[str]:
    """Every layer runs as often as the decisions say, and moments go on."""
    counts = {layer.name: layer.parts for layer in plan.layers}
    names = list(counts)
    if len(names) != len(plan.layers):
        yield "two layers have one name"
    if plan.strips is not None:
        if plan.strips.first not in counts or plan.strips.last not in counts:
            yield "strips name a layer that does not exist"
            return
        cut = names[names.index(plan.strips.first) : names.index(plan.strips.last) + 1]
        counts |= dict.fromkeys(cut, plan.strips.count)
    for name, count in counts.items():
        found = sum(step.layer == name for step in plan.program)
        if found != count:
            yield f"layer {name} runs {found} times, not {count}"
    yield from (f"step {step.name} is of no layer" for step in plan.program if step.layer not in counts)
    if any(after.moment not in (before.moment, before.moment + 1) for before, after in pairwise(plan.program)):
        yield "moments do not follow each other"


class _Run:
    """Contents of memories while the program runs: of each space, ranges with the tensor whose bytes they hold."""

    def __init__(self, plan: CpuPlanJson) -> None:
        self._offsets = {held.name: held.offset for held in plan.tensors}
        self._sizes = {held.name: held.bytes for held in plan.tensors}
        self._sizes |= {t.name: t.bytes for t in (*plan.constants, *plan.inputs, *plan.outputs)}
        self._outputs = plan.outputs
        self._constant = {t.name for t in (*plan.constants, *plan.inputs)}
        self._held: dict[str, list[tuple[int, int, str]]] = {
            t.name: [(0, t.bytes, t.name)] for t in (*plan.constants, *plan.inputs)
        }

    def moment(self, steps: Sequence[CpuStep]) -> Iterator[str]:
        """Faults of steps that may run at the same time."""
        for step in steps:
            yield from self._inside(step)
            yield from self._complete(step)
            yield from self._apart(step)
        for number, first in enumerate(steps):
            for second in steps[number + 1 :]:
                yield from self._beside(first, second)
        for step in steps:
            for touch in (*step.writes, *step.work):
                self._write(touch)

    def end(self) -> Iterator[str]:
        """Outputs that are not complete at the end."""
        for output in self._outputs:
            if not self._holds(Touch(output.name, 0, output.bytes)):
                yield f"output {output.name} is not written completely"

    def _place(self, touch: Touch) -> tuple[str, _Range]:
        offset = self._offsets.get(touch.tensor)
        space, begin = (touch.tensor, touch.start) if offset is None else (_ARENA, offset + touch.start)
        return space, (begin, begin + touch.bytes)

    def _inside(self, step: CpuStep) -> Iterator[str]:
        """Functions touch parts of tensors only, and write none that stays as it is."""
        for touch in (*step.reads, *step.writes, *step.work):
            size = self._sizes.get(touch.tensor)
            if size is None:
                yield f"{step.name} touches {touch.tensor}, which has no place"
            elif touch.start < 0 or touch.start + touch.bytes > size:
                yield f"{step.name} reaches beyond {touch.tensor}"
        for touch in (*step.writes, *step.work):
            if touch.tensor in self._constant:
                yield f"{step.name} writes {touch.tensor}, which stays as it is"

    def _complete(self, step: CpuStep) -> Iterator[str]:
        for touch in step.reads:
            if not self._holds(touch):
                yield f"{step.name} reads bytes of {touch.tensor} that are not there"

    def _apart(self, step: CpuStep) -> Iterator[str]:
        """Results lie apart from operands unless they may take their place; memory to work in lies apart from all."""
        for write in step.writes:
            for read in step.reads:
                # A kernel reads its operand from the beginning on, and is never behind what it writes.
                allowed = read.tensor in step.overwrites and self._place(write)[1][0] == self._place(read)[1][0]
                if not allowed and self._meet(write, read):
                    yield f"{step.name} writes {write.tensor} over its operand {read.tensor}"
        for number, work in enumerate(step.work):
            for other in (*step.reads, *step.writes, *step.work[:number]):
                if self._meet(work, other):
                    yield f"{step.name} works in bytes of {other.tensor}"

    def _beside(self, first: CpuStep, second: CpuStep) -> Iterator[str]:
        """Neither of two steps writes what the other touches."""
        for one, other in ((first, second), (second, first)):
            touched = (*other.reads, *other.writes, *other.work)
            if any(self._meet(write, touch) for write in (*one.writes, *one.work) for touch in touched):
                yield f"{first.name} and {second.name} run at the same time, and one writes what the other touches"
                return

    def _meet(self, first: Touch, second: Touch) -> bool:
        (space, (begin, end)), (other, (from_, to)) = self._place(first), self._place(second)
        return space == other and begin < to and from_ < end

    def _holds(self, touch: Touch) -> bool:
        """Tell if all bytes hold what was written to the tensor."""
        space, (begin, end) = self._place(touch)
        for from_, to, name in sorted(self._held.get(space, [])):
            if name == touch.tensor and from_ <= begin < to:
                begin = to
        return begin >= end

    def _write(self, touch: Touch) -> None:
        space, (begin, end) = self._place(touch)
        kept = [(begin, end, touch.tensor)]
        for from_, to, name in self._held.get(space, []):
            kept += [(a, b, name) for a, b in ((from_, min(to, begin)), (max(from_, end), to)) if a < b]
        self._held[space] = kept
