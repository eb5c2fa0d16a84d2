"""Numbers and places of a plan that was read: whether they can be those of any program.

The types of all fields are right already. What a plan decides is not judged here, but that whoever follows its numbers
finds what they name: layers, cores, groups of transfers that were begun.
"""

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from tvm_pulp.codegen.formats.schema import FormatError, from_json
from tvm_pulp.planning.program import CpuPlanJson, PlanJson
from tvm_pulp.planning.program.actions import Begin, FetchAction, JobAction, KernelAction, Step, TransferAction

# Bytes, cycles and the like; programs are added up from them.
_MOST = 1 << 48
# Quarters of the cores as bits, halves: numbers of teams.
_TEAMS = 8
_MOST_CORES = 1024
# What a number out of range looks like; a text without one need not be walked through.
_UNUSUAL = re.compile(r'[0-9]{15}|(?<!"position": )(?<![eE])-[0-9]')
# Fields whose numbers may be below zero.
_SIGNED = ("stride", "apart", "alive", "from_", "gap", "position")


class PlanError(FormatError):
    """A plan that names what is not there: where, and what."""


def read_checked_plan(text: str | bytes) -> PlanJson:
    """The plan in a text; ValueError where it is of another format, or names what is not there."""
    plan: PlanJson = from_json(PlanJson, text)
    shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
    if _UNUSUAL.search(shown):
        _check_numbers(plan)
    _check_places(plan)
    return plan


def read_checked_cpu_plan(text: str | bytes) -> CpuPlanJson:
    """The same of a plan for a CPU by itself."""
    plan: CpuPlanJson = from_json(CpuPlanJson, text)
    _check_numbers(plan)
    return plan


def _check_numbers(plan: PlanJson | CpuPlanJson) -> None:
    for place, value in _numbers(plan, ""):
        if abs(value) > _MOST or (value < 0 and not any(name in place for name in _SIGNED)):
            raise PlanError(f"{place}: {value} is out of range")


def _check_places(plan: PlanJson) -> None:
    begun: set[int] = set()
    for number, step in enumerate(plan.program):
        try:
            _check_step(step, len(plan.layers), begun)
        except PlanError as error:
            raise PlanError(f"step {number}: {error}") from None
    for name, readers in plan.resident.items():
        if any(reader >= len(plan.layers) for reader in readers):
            raise PlanError(f"resident: '{name}' is read by a layer that does not exist")
    if not 1 <= plan.cores <= _MOST_CORES:
        raise PlanError(f"cores: there are none or more than {_MOST_CORES}")
    for layer in plan.layers:
        _check_team(layer.team)


def _check_step(step: Step, layers: int, begun: set[int]) -> None:
    _check_team(step.team)
    for action in step.actions:
        agent = getattr(action, "agent", 0)
        if agent >= _MOST_CORES:
            raise PlanError(f"there is no core {agent}")
        if isinstance(action, Begin):
            begun.add(agent)
            continue
        if action.layer >= layers:
            raise PlanError(f"there is no layer {action.layer}")
        if isinstance(action, TransferAction):
            if agent not in begun:
                raise PlanError(f"core {agent} moves data and has begun no group")
            if not action.writes or (action.do == "store" and not action.reads):
                raise PlanError("a transfer moves nothing")
        elif isinstance(action, FetchAction) and not action.writes:
            raise PlanError("what is fetched goes nowhere")
        elif isinstance(action, KernelAction):
            _check_team(action.team)
            if action.code is not None and action.cold_cycles is None:
                raise PlanError("a kernel's code takes cycles to fetch: cold_cycles are missing")
        elif isinstance(action, JobAction) and action.queue < 1:
            raise PlanError("an engine takes no job")


def _check_team(team: int | None) -> None:
    if team is not None and not 1 <= team < _TEAMS:
        raise PlanError(f"there is no team {team}")


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    """All numbers of nested records, with the names that lead to them."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, int | float):
        yield place, value
    elif is_dataclass(value) and not isinstance(value, type):
        for name in _names(type(value)):
            yield from _numbers(getattr(value, name), f"{place}.{name}" if place else name)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _numbers(inner, place)
    else:
        for inner in value:
            yield from _numbers(inner, place)
