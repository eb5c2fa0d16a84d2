"""A described plan read back: the same decisions for the same network, without any search.

What is read is checked against the network and its forms; whatever does not match is an error of the user, who gave the
wrong model, target or file.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.planning.program import plan_record
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.search.attempts import PlanEvaluator, estimated
from tvm_pulp.planning.tiling.forms import CLUSTER, EngineChoice, LayerForms, Tiling, pin_of
from tvm_pulp.planning.tiling.place import Arena, FittedSchedule
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.planning.tiling.schedule import Choice, Decisions, InL3, build_program, policy_of
from tvm_pulp.qnn.network import Tensor
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
def read_plan(record: PlanJson, evaluator: PlanEvaluator) -> Plan:
    """The plan that a record describes, for the evaluator's network; timed."""
    if record.soc != evaluator.soc.name and not _serves(record.soc, evaluator.soc):
        raise UserError(
            f"--plan: it was made for --soc {record.soc}, not {evaluator.soc.name}, whose memories, cores or engines "
            "are others: compile without --plan"
        )
    evaluator = _in_order(record, evaluator)
    network, engine_choice = evaluator.network, evaluator.engine_choice
    choices = [
        Choice(_tiling(entry, forms), entry.two_copies, evaluator.l1_bytes, entry.exclusive)
        for entry, forms in zip(record.layers, engine_choice.forms, strict=True)
    ]
    known = {t.storage.name: t.storage for layer in network.layers for t in layer.operands}
    from_l3 = {c.name for c in record.constants if c.level == "l3"}
    decisions = Decisions(
        choices,
        {index: entry.lead for index, entry in enumerate(record.layers)},
        record.double_buffer,
        in_l3=InL3(0, frozenset(t for choice in choices for t in choice.loaded if t.name in from_l3)),
        resident={known[name]: frozenset(readers) for name, readers in record.resident.items()},
        l3_batch=record.l3_batch,
        bundle_bytes=record.bundle_bytes,
        commands=evaluator.commands,
        interleave=record.interleave,
        apart=frozenset(index for index, entry in enumerate(record.layers) if not entry.joins),
    )
    policy = policy_of(network, decisions)
    schedule = build_program(network, choices, policy, evaluator.l1_bytes)
    if len(schedule.blocks) != len(record.blocks):
        raise _mismatch("its buffers in L1")
    for block, entry in zip(schedule.blocks, record.blocks, strict=True):
        if [block.name, block.bytes, block.first, block.last] != [entry.name, entry.bytes, *entry.alive]:
            raise _mismatch(f"buffer '{entry.name}'")
        block.offset = entry.offset
    fitted = FittedSchedule(decisions, policy, schedule, record.l1_peak)
    plan = evaluator.plan_of(fitted)
    plan = replace(plan, arena=_arena(record.l2, plan.arena), planner=record.planner)
    return estimated(plan, evaluator.costs)


def _mismatch(what: str) -> UserError:
    return UserError(f"--plan: {what} does not match this model and target: compile without --plan, or from its model")


def _in_order(record: PlanJson, evaluator: PlanEvaluator) -> PlanEvaluator:
    """The network's layers in the order of the plan."""
    positions = {layer.name: index for index, layer in enumerate(evaluator.network.layers)}
    names = [entry.name for entry in record.layers]
    if sorted(names) != sorted(positions):
        strange = sorted(set(names) ^ set(positions))
        raise _mismatch(f"layer '{strange[0]}'" if strange else "the list of layers")
    order = [positions[name] for name in names]
    for entry, index in zip(record.layers, order, strict=True):
        layer = evaluator.network.layers[index]
        shapes = [tuple(t.spec.shape) for t in layer.outputs]
        if entry.op != layer.operator or [o.shape for o in entry.outputs] != shapes:
            raise _mismatch(f"layer '{layer.name}'")
    network = replace(evaluator.network, layers=[evaluator.network.layers[i] for i in order])
    engine_choice = EngineChoice([evaluator.engine_choice.forms[i] for i in order], evaluator.engine_choice.pins)
    return replace(evaluator, network=network, engine_choice=engine_choice)


def _tiling(entry: plan_record.Layer, forms: LayerForms) -> Tiling:
    for cuts in forms.cuts if entry.team is None else forms.on_team(entry.team):
        if (cuts.form.engine, cuts.form.name) == (entry.engine, entry.form):
            return cuts.measure(entry.tile)
    direct = forms.from_l2
    if (direct.form.engine, direct.form.name) == (entry.engine, entry.form):
        return direct
    raise _mismatch(f"'{entry.form}' on {entry.engine} for layer '{entry.name}'")


def _arena(record: plan_record.L2, made: Arena) -> Arena:
    """Activations in L2 at the recorded places."""
    places = {entry.name: (entry.offset, entry.bytes) for entry in record.tensors}
    offsets: dict[Any, int] = {}
    for tensor in made.offsets:
        assert isinstance(tensor, Tensor)
        if tensor.name not in places or places[tensor.name][1] != tensor.spec.bytes:
            raise _mismatch(f"tensor '{tensor.name}'")
        offsets[tensor] = places[tensor.name][0]
    return Arena(offsets, record.size, made.largest_live_set)
