"""Decisions of a recorded plan, taken again: the same network on the same machine becomes the same program."""

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.evaluator import CpuEvaluator
from tvm_pulp.planning.cpu.kernel_offers import LOOPS
from tvm_pulp.planning.cpu.strips import Stage, can_be_cut, stages
from tvm_pulp.planning.program.cpu_plan_record import CpuPlanJson, Strips
from tvm_pulp.qnn.network import Network


def recorded_decisions(record: CpuPlanJson, evaluator: CpuEvaluator) -> CpuDecisions:
    """The decisions of a record; a user error where they are those of another network or machine."""
    network, soc = evaluator.network, evaluator.request.soc
    refuse_if(record.soc != soc, f"--plan: the plan is for --soc {record.soc}, not {soc}: drop it, or change --soc")
    stated = [(entry.name, entry.op) for entry in record.layers]
    if stated != [(layer.name, layer.operator) for layer in network.layers]:
        raise _mismatch("the list of layers")
    for layer, entry in zip(network.layers, record.layers, strict=True):
        offered = {o.form.name for o in evaluator.offers.of(layer) if o.call is not None} | {LOOPS}
        if entry.form not in offered:
            raise _mismatch(f"'{entry.form}' for layer '{entry.name}'")
    forms = {entry.name: entry.form for entry in record.layers}
    return CpuDecisions(forms, _strips(record, network), _parts(record, network))


def _strips(record: CpuPlanJson, network: Network) -> Strips | None:
    strips = record.strips
    if strips is None:
        return None
    known = {(network.layers[s.first].name, network.layers[s.last].name): s for s in stages(network)}
    stage = known.get((strips.first, strips.last))
    if stage is None or not 1 < strips.count <= stage.rows or not stage.fits(strips.count):
        raise _mismatch(f"{strips.count} strips from '{strips.first}' to '{strips.last}'")
    return strips


def _parts(record: CpuPlanJson, network: Network) -> dict[str, int] | None:
    parts = {entry.name: entry.parts for entry in record.layers if entry.parts != 1}
    if parts and (not record.threads or record.strips is not None):
        raise _mismatch("a layer in parts where no threads share any")
    for index, layer in enumerate(network.layers):
        count = parts.get(layer.name, 1)
        if count == 1:
            continue
        stage = Stage(network, index, index)
        if not can_be_cut(layer) or not 1 < count <= stage.rows or not stage.fits(count):
            raise _mismatch(f"{count} parts of layer '{layer.name}'")
    return parts if record.threads else None


def _mismatch(what: str) -> UserError:
    return UserError(f"--plan: {what} does not match this model and target: compile without --plan")
