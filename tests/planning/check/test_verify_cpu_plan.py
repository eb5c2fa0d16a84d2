"""The verifier of plans for CPUs by themselves finds every planted fault, and none in plans as they are made."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import tvm_pulp
from tvm_pulp import soc as socs
from tvm_pulp.formats import CpuPlanJson, from_json
from tvm_pulp.planning.check import verify_cpu_plan
from tvm_pulp.planning.program.cpu_plan_record import CpuStep, Held

CPU = socs.load("cortex-m4").cpu


@cache
def plan(**options: Any) -> CpuPlanJson:
    made: CpuPlanJson = from_json(CpuPlanJson, tvm_pulp.compile("zoo:resnet8", **options).files["plan.json"])
    return made


@pytest.mark.parametrize(
    "options", [{"soc": "cortex-m4"}, {"soc": "cortex-m4", "ram": "40k"}, {"soc": "x86-64-vnni", "threads": 3}, {}]
)
def test_plans_are_clean(options: dict[str, Any]) -> None:
    assert verify_cpu_plan(plan(**options), socs.load(options.get("soc", "host")).cpu) == []


def with_step(record: CpuPlanJson, number: int, **changes: Any) -> CpuPlanJson:
    steps = list(record.program)
    steps[number] = replace(steps[number], **changes)
    return replace(record, program=tuple(steps))


def move_buffer(record: CpuPlanJson) -> CpuPlanJson:
    """The second buffer to where the first is, with all tensors in it."""
    first = record.buffers[0]
    other = next(
        b for b in record.buffers[1:] if b.alive[0] <= first.alive[1] and first.alive[0] <= b.alive[1] and b.bytes > 64
    )
    buffers = tuple(replace(b, offset=first.offset) if b == other else b for b in record.buffers)
    tensors = tuple(replace(t, offset=first.offset) if t.buffer == other.name else t for t in record.tensors)
    return replace(record, buffers=buffers, tensors=tensors)


def sum_of(record: CpuPlanJson) -> tuple[int, CpuStep]:
    """The first step that takes the place of an operand."""
    taken = {held.name for held in record.tensors if held.buffer != held.name}
    return next((n, s) for n, s in enumerate(record.program) if s.writes[0].tensor in taken)


def forget_to_overwrite(record: CpuPlanJson) -> CpuPlanJson:
    return with_step(record, sum_of(record)[0], overwrites=())


def overwrite_from_the_middle(record: CpuPlanJson) -> CpuPlanJson:
    """The result begins behind the operand that it overwrites, which has not been read there yet."""
    name = sum_of(record)[1].writes[0].tensor
    tensors = tuple(
        replace(t, offset=t.offset + 16, bytes=t.bytes - 16) if t.name == name else t for t in record.tensors
    )
    return replace(record, tensors=tensors)


def swap_steps(record: CpuPlanJson) -> CpuPlanJson:
    steps = list(record.program)
    steps[2], steps[3] = replace(steps[3], moment=2), replace(steps[2], moment=3)
    return replace(record, program=tuple(steps))


def far_tensor(record: CpuPlanJson) -> CpuPlanJson:
    held = record.tensors[0]
    return replace(record, tensors=(replace(held, offset=record.arena_bytes), *record.tensors[1:]))


def no_buffer(record: CpuPlanJson) -> CpuPlanJson:
    return replace(record, tensors=(*record.tensors, Held("more", "nowhere", 0, 4)))


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (move_buffer, "overlap while both are alive"),
        (forget_to_overwrite, "over its operand"),
        (overwrite_from_the_middle, "over its operand"),
        (swap_steps, "that are not there"),
        (far_tensor, "reaches beyond buffer"),
        (no_buffer, "which does not exist"),
        (lambda p: replace(p, arena_bytes=p.arena_bytes - 64), "lies outside the arena"),
        (lambda p: replace(p, ram_limit=30_000), "there are 30000 bytes of RAM"),
        (lambda p: replace(p, flash_limit=30_000), "there are 30000 bytes of flash"),
        (lambda p: replace(p, constants=p.constants[1:]), "which has no place"),
        (lambda p: replace(p, program=p.program[:-1]), "is not written completely"),
        (lambda p: replace(p, program=p.program[:-1]), "runs 0 times, not 1"),
        (lambda p: with_step(p, 3, moment=7), "moments do not follow each other"),
        (lambda p: with_step(p, 1, work=(*p.program[1].work, p.program[1].writes[0])), "works in bytes of"),
        (lambda p: with_step(p, 1, writes=(replace(p.program[1].writes[0], bytes=1 << 20),)), "reaches beyond"),
        (lambda p: with_step(p, 0, writes=p.program[0].reads), "which stays as it is"),
    ],
)
def test_a_planted_fault_is_found(spoil: Callable[[CpuPlanJson], CpuPlanJson], fault: str) -> None:
    faults = verify_cpu_plan(spoil(plan(soc="cortex-m4")), CPU)
    assert any(fault in sentence for sentence in faults), faults


def test_parts_of_threads_must_not_touch_each_other() -> None:
    record = plan(soc="x86-64-vnni", threads=3)
    number = next(n for n, s in enumerate(record.program) if s.moment == record.program[n + 1].moment)
    spoilt = with_step(record, number + 1, writes=record.program[number].writes)
    assert any("run at the same time" in fault for fault in verify_cpu_plan(spoilt, None))


def test_every_strip_is_there() -> None:
    record = plan(soc="cortex-m4", ram="40k")
    assert record.strips is not None
    fewer = replace(record, strips=replace(record.strips, count=record.strips.count - 1))
    assert any(f"runs {record.strips.count} times" in fault for fault in verify_cpu_plan(fewer, CPU))
    nowhere = replace(record, strips=replace(record.strips, last="nowhere"))
    assert "strips name a layer that does not exist" in verify_cpu_plan(nowhere, CPU)
