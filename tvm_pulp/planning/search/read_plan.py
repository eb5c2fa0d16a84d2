"""Decisions read back from a described plan, for the same network: the plan follows from them without any search.

What is read is checked against the network and its forms; whatever does not match is an error of the user, who gave the
wrong model, target or file.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.planning.program import plan_record
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.search.problem import Problem
from tvm_pulp.planning.tiling.forms import CLUSTER, LayerForms, Tiling, pin_of
from tvm_pulp.planning.tiling.schedule import Choice, Decisions
from tvm_pulp.soc.description import Soc
from tvm_pulp.soc.same_timing import differs_in_time_only
from tvm_pulp.uma.region import Region


@contextmanager
def _checked() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"--plan: this is not a plan of this version ({error!r}): compile without --plan") from None


@_checked()
def recorded_regions(record: PlanJson, forms: Sequence[LayerForms]) -> list[Region]:
    """The regions of a cover as a plan names them; what it does not name is the cores'."""
    entries = {entry.name: entry for entry in record.layers}
    found = []
    for offered in forms:
        entry = entries.get(offered.layer.name)
        form = _tiling(entry, offered).form if entry is not None else None
        pattern = offered.pattern_of(form) if form is not None else offered.layer.operator
        found.append(Region(offered.layer, pin_of(form) if form is not None else CLUSTER, pattern))
    return found


def _serves(preset: str, soc: Soc) -> bool:
    return preset in socs.names() and differs_in_time_only(socs.load(preset), soc)


@_checked()
def recorded_decisions(record: PlanJson, problem: Problem, cover: Decisions) -> Decisions:
    """The decisions that a record states about a cover."""
    if record.soc != problem.soc.name and not _serves(record.soc, problem.soc):
        raise UserError(
            f"--plan: it was made for --soc {record.soc}, not {problem.soc.name}, whose memories, cores or engines "
            "are others: compile without --plan"
        )
    layers = _in_order(record, cover.layers)
    choices = tuple(
        Choice(_tiling(entry, forms), entry.two_copies, problem.l1_bytes, entry.exclusive, entry.pages or 1)
        for entry, forms in zip(record.layers, layers, strict=True)
    )
    known = {t.storage.name: t.storage for forms in layers for t in forms.layer.operands}
    stated = {constant.name: constant.level for constant in record.constants}
    constants = dict.fromkeys(t for choice in choices for recipe in choice.recipes for t in recipe.constants)
    return Decisions(
        layers,
        cover.engines,
        choices,
        {index: entry.lead for index, entry in enumerate(record.layers)},
        record.double_buffer,
        record.interleave,
        frozenset(index for index, entry in enumerate(record.layers) if not entry.joins),
        {known[name]: frozenset(readers) for name, readers in record.resident.items()},
        levels={t: stated[t.name] for t in constants if stated[t.name] != t.level},
        l3_batch=record.l3_batch,
        bundle_bytes=record.bundle_bytes,
    )


def check_places(record: PlanJson, made: PlanJson) -> None:
    """Raise where the decisions of a record put something elsewhere than the record says."""
    for mine, theirs in ((made.blocks, record.blocks), (made.l2.tensors, record.l2.tensors)):
        if mine != theirs:
            other = next((a for a, b in zip(theirs, mine, strict=False) if a != b), (*theirs, *mine)[-1])
            raise _mismatch(f"the place of '{other.name}'")


def _mismatch(what: str) -> UserError:
    return UserError(f"--plan: {what} does not match this model and target: compile without --plan, or from its model")


def _in_order(record: PlanJson, layers: Sequence[LayerForms]) -> tuple[LayerForms, ...]:
    """Layers in the order of the plan."""
    named = {forms.layer.name: forms for forms in layers}
    names = [entry.name for entry in record.layers]
    if sorted(names) != sorted(named):
        strange = sorted(set(names) ^ set(named))
        raise _mismatch(f"layer '{strange[0]}'" if strange else "the list of layers")
    for entry in record.layers:
        layer = named[entry.name].layer
        shapes = [tuple(t.spec.shape) for t in layer.outputs]
        if entry.op != layer.operator or [o.shape for o in entry.outputs] != shapes:
            raise _mismatch(f"layer '{layer.name}'")
    return tuple(named[name] for name in names)


def _tiling(entry: plan_record.LayerJson, forms: LayerForms) -> Tiling:
    for cuts in forms.cuts if entry.team is None else forms.on_team(entry.team):
        if (cuts.form.engine, cuts.form.name) == (entry.engine, entry.form):
            return cuts.measure(entry.tile)
    direct = forms.from_l2
    if (direct.form.engine, direct.form.name) == (entry.engine, entry.form):
        return direct
    raise _mismatch(f"'{entry.form}' on {entry.engine} for layer '{entry.name}'")
