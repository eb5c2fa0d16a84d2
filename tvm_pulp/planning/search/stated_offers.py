"""Offers for layers, as far as they agree with decisions that a user stated; and whether a plan keeps to them."""

from collections.abc import Sequence

from tvm_pulp.errors import UserError, meant, refuse_if
from tvm_pulp.planning.program.stated_decisions import StatedDecisions, StatedLayer
from tvm_pulp.planning.tiling.forms import CLUSTER, Cuts, LayerForms, pin_of
from tvm_pulp.planning.tiling.plan import Plan
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.strategy import TileAxis


def check_names(stated: StatedDecisions, network: Network, memories: Sequence[str]) -> None:
    """Raise for a layer that the network does not have, and for a memory that holds no constants here."""
    known = {layer.name for layer in network.layers}
    for name in (*stated.order, *stated.layers):
        if name not in known:
            hint = meant(name, known, "`tvmc explain` lists them")
            raise UserError(f"--decide: there is no layer '{name}': {hint}")
    twice = next((name for name in stated.order if stated.order.count(name) > 1), None)
    refuse_if(twice is not None, f"--decide: layer '{twice}' is in the order more than once: name it once")
    for name, level in stated.levels.items():
        refuse_if(
            level not in memories,
            f"--decide: constant '{name}' cannot lie in '{level}': choose {' or '.join(memories)}",
        )


def agreeing(
    stated: StatedDecisions, operators: Sequence[LayerForms], regions: Sequence[LayerForms]
) -> tuple[list[LayerForms], list[LayerForms]]:
    """Offers for operators and regions without the forms and cuts that disagree.

    A region that holds an operator with a stated form or tile is offered where it has the operator's name, as plan.json
    calls it, and agrees.
    """
    wanted = {name: layer for name, layer in stated.layers.items() if layer.form is not None or layer.tile is not None}
    if not wanted:
        return list(operators), list(regions)
    kept = []
    for entry in regions:
        named = [part.name for part in entry.layer.parts if part.name in wanted]
        if not named:
            kept.append(entry)
        elif named == [entry.layer.name]:
            cuts, _ = _agreeing_cuts(entry, wanted[entry.layer.name])
            kept += [_restricted(entry, cuts)] if cuts else []
    in_regions = {entry.layer.name for entry in kept}
    alone = []
    for entry in operators:
        if entry.layer.name in wanted:
            cuts, why_not = _agreeing_cuts(entry, wanted[entry.layer.name])
            from_l2 = not cuts and _is_from_l2(entry, wanted[entry.layer.name])
            if not cuts and not from_l2 and entry.layer.name not in in_regions:
                raise UserError(f"--decide: layer '{entry.layer.name}' ({entry.layer.operator}) {why_not}")
            entry = _restricted(entry, cuts, from_l2=from_l2)
        alone.append(entry)
    return alone, kept


def _restricted(entry: LayerForms, cuts: Sequence[Cuts], *, from_l2: bool = False) -> LayerForms:
    """The layer with these cuts alone, or with its last resort."""
    return LayerForms(entry.layer, tuple(cuts), entry.refusals, entry.costs, entry.rivals, only_stated=not from_l2)


def _is_from_l2(entry: LayerForms, stated: StatedLayer) -> bool:
    """Tell if the last resort of a layer is stated."""
    asked = (stated.form, stated.tile, stated.engine or CLUSTER)
    return not entry.layer.parts and asked == (entry.from_l2.form.name, None, CLUSTER)


def _agreeing_cuts(entry: LayerForms, stated: StatedLayer) -> tuple[list[Cuts], str]:
    """The forms of a layer, cut as it is stated; where there are none, why."""
    found = [cuts for cuts in entry.cuts if stated.form in (None, cuts.form.name)]
    found = [cuts for cuts in found if stated.engine in (None, pin_of(cuts.form))]
    if not found:
        asked = f"form '{stated.form}'" if stated.form is not None else "form"
        where = f" on {stated.engine}" if stated.engine is not None else ""
        offered = ", ".join(dict.fromkeys(f"'{c.form.name}' on {pin_of(c.form)}" for c in entry.cuts))
        return [], f"has no {asked}{where}: choose {offered or 'another layer'}"
    if stated.tile is None:
        return found, ""
    shape = tuple(entry.layer.outputs[0].spec.shape)
    reasons = [why_not_cut(stated.tile, shape, cuts.form.axes()) for cuts in found]
    agreed = [cuts.only(stated.tile) for cuts, reason in zip(found, reasons, strict=True) if not reason]
    return agreed, reasons[0]


def why_not_cut(tile: tuple[int, ...], shape: tuple[int, ...], axes: Sequence[TileAxis]) -> str:
    """Why a form cannot be cut so; "" where it can."""
    text = f"cannot be cut into tiles of {list(tile)}"
    if len(tile) != len(shape) or not all(0 < size <= extent for size, extent in zip(tile, shape, strict=True)):
        return f"{text}: its result is {list(shape)}"
    rules = {axis.axis: axis for axis in axes}
    for number, (size, extent) in enumerate(zip(tile, shape, strict=True)):
        axis = rules.get(number)
        if axis is None:
            if size != extent:
                return f"{text}: axis {number} is not cut, state {extent}"
        elif axis.limit is not None and size > axis.limit:
            return f"{text}: axis {number} is cut into at most {axis.limit}"
        elif size < extent and size % (axis.least or axis.step):
            return f"{text}: axis {number} is cut in steps of {axis.least or axis.step}"
    return ""


def check_kept(plan: Plan, stated: StatedDecisions) -> None:
    """Raise where nothing that fits keeps to what was stated."""
    layers = {planned.layer.name: planned for planned in plan.layers}
    for name, wanted in stated.layers.items():
        planned = layers.get(name)
        kept = planned is not None and wanted.form in (None, planned.tiling.form.name)
        if wanted.form is not None and not kept:
            raise UserError(f"--decide: layer '{name}' does not fit into L1 as '{wanted.form}': state another form")
    found = {tensor.name: level for tensor, level in plan.constants().items()}
    for name, level in stated.levels.items():
        if name not in found:
            raise UserError(f"--decide: there is no constant '{name}': {meant(name, found, 'plan.json lists them')}")
        refuse_if(
            found[name] != level,
            f"--decide: constant '{name}' cannot lie in '{level}', where its form does not read it or has no room: "
            f"state {found[name]}, or another form of its layer",
        )
