"""A described plan read back: the same decisions for the same network, without any search.

What is read is checked against the network and its forms; whatever does not match is an error of the user, who gave the
wrong model, target or file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.tiling.arena import Arena
from tvm_pulp.tiling.build_schedule import build_schedule
from tvm_pulp.tiling.choose import Chooser, Forms, plan_of
from tvm_pulp.tiling.cluster import ENGINE as CLUSTER
from tvm_pulp.tiling.decisions import Choice, Decisions, layer_work, policy_of
from tvm_pulp.tiling.fit import Fitted
from tvm_pulp.tiling.greedy import Tiling
from tvm_pulp.tiling.judge import Judge
from tvm_pulp.tiling.plan import Plan, Planner
from tvm_pulp.tiling.split_form import pin_of
from tvm_pulp.uma.region import Region

Record = dict[str, Any]


@contextmanager
def _checked() -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UserError(f"--plan: this is not a plan of this version ({error!r}): compile without --plan") from None


def read_plan(record: Record, judge: Judge) -> Plan:
    """The plan that a record describes, for the judge's network; timed."""
    with _checked():
        return _read(record, judge)


def recorded_operators(record: Record) -> dict[str, str]:
    """Names of the plan's layers with what they compute."""
    with _checked():
        return {str(entry["name"]): str(entry["op"]) for entry in record["layers"]}


def recorded_regions(record: Record, forms: Sequence[Forms]) -> list[Region]:
    """What a plan says about the regions of a cover; what it does not name is the cores'."""
    with _checked():
        entries = {entry["name"]: entry for entry in record["layers"]}
        found = []
        for offered in forms:
            entry = entries.get(offered.layer.name)
            form = _tiling(entry, offered).form if entry is not None else None
            pattern = offered.pattern_of(form) if form is not None else offered.layer.operator
            found.append(Region(offered.layer, pin_of(form) if form is not None else CLUSTER, pattern))
        return found


def _read(record: Record, judge: Judge) -> Plan:
    if record["soc"] != judge.soc.name:
        raise UserError(f"--plan: it was made for --soc {record['soc']}, not {judge.soc.name}")
    judge = _in_order(record, judge)
    network, chooser = judge.network, judge.chooser
    choices = [
        Choice(_tiling(entry, forms), bool(entry["overlap"]), judge.l1_bytes, bool(entry["alone"]))
        for entry, forms in zip(record["layers"], chooser.forms, strict=True)
    ]
    known = {t.storage.name: t.storage for layer in network.layers for t in layer.operands}
    from_l3 = {c["name"] for c in record["constants"] if c["level"] == "l3"}
    decisions = Decisions(
        choices,
        {index: int(entry["lead"]) for index, entry in enumerate(record["layers"])},
        bool(record["double_buffer"]),
        in_l3=lambda tensor: tensor.name in from_l3,
        resident={known[name]: frozenset(readers) for name, readers in record["resident"].items()},
        l3_batch=int(record["l3_batch"]),
    )
    works = [layer_work(c, decisions.in_l3) for c in choices]
    policy = policy_of(network, decisions, works)
    schedule = build_schedule(network, works, policy, judge.l1_bytes)
    if len(schedule.blocks) != len(record["blocks"]):
        raise _mismatch("its buffers in L1")
    for block, entry in zip(schedule.blocks, record["blocks"], strict=True):
        if [block.name, block.bytes, block.first, block.last] != [entry["name"], entry["bytes"], *entry["alive"]]:
            raise _mismatch(f"buffer '{entry['name']}'")
        block.offset = int(entry["offset"])
    fitted = Fitted(decisions, works, policy, schedule, int(record["l1_peak"]))
    plan = plan_of(network, judge.soc, chooser, fitted, cores=judge.cores, l1_bytes=judge.l1_bytes)
    plan = replace(plan, arena=_arena(record["l2"], plan.arena), planner=_planner(record["planner"]))
    return judge.timed(plan)


def _mismatch(what: str) -> UserError:
    return UserError(f"--plan: {what} does not match this model and target: compile without --plan, or from its model")


def _in_order(record: Record, judge: Judge) -> Judge:
    """The network's layers in the order of the plan."""
    positions = {layer.name: index for index, layer in enumerate(judge.network.layers)}
    names = [entry["name"] for entry in record["layers"]]
    if sorted(names) != sorted(positions):
        strange = sorted(set(names) ^ set(positions))
        raise _mismatch(f"layer '{strange[0]}'" if strange else "the list of layers")
    order = [positions[name] for name in names]
    for entry, index in zip(record["layers"], order, strict=True):
        layer = judge.network.layers[index]
        shapes = [list(t.spec.shape) for t in layer.outputs]
        if entry["op"] != layer.operator or [o["shape"] for o in entry["outputs"]] != shapes:
            raise _mismatch(f"layer '{layer.name}'")
    network = replace(judge.network, layers=[judge.network.layers[i] for i in order])
    chooser = Chooser([judge.chooser.forms[i] for i in order], judge.chooser.pins)
    return replace(judge, network=network, chooser=chooser)


def _tiling(entry: Record, forms: Forms) -> Tiling:
    for form, cuts in zip(forms.tiled, forms.cuts, strict=True):
        if (form.engine, form.name) == (entry["engine"], entry["form"]):
            return cuts.measure(tuple(entry["tile"]))
    direct = forms.from_l2()
    if (direct.form.engine, direct.form.name) == (entry["engine"], entry["form"]):
        return direct
    raise _mismatch(f"'{entry['form']}' on {entry['engine']} for layer '{entry['name']}'")


def _arena(record: Record, made: Arena) -> Arena:
    """Activations in L2 at the recorded places."""
    places = {entry["name"]: (int(entry["offset"]), int(entry["bytes"])) for entry in record["tensors"]}
    offsets: dict[Any, int] = {}
    for tensor in made.offsets:
        assert isinstance(tensor, Tensor)
        if tensor.name not in places or places[tensor.name][1] != tensor.spec.bytes:
            raise _mismatch(f"tensor '{tensor.name}'")
        offsets[tensor] = places[tensor.name][0]
    return Arena(offsets, int(record["size"]), made.largest_live_set)


def _planner(record: Record | None) -> Planner | None:
    if record is None:
        return None
    names: Sequence[str] = ("name", "chosen", "attempts", "status")
    figures: Sequence[str] = ("objective_cycles", "bound_cycles", "deterministic_time")
    return Planner(*(record[n] for n in names), *(record[n] for n in figures))
