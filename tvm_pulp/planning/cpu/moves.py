"""Ways from a plan to decisions that fit better into RAM, or make use of flash; those first that cost least."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tvm_pulp.planning.cpu.decisions import CpuDecisions
from tvm_pulp.planning.cpu.evaluator import CpuEvaluator
from tvm_pulp.planning.cpu.plan import CpuPlan
from tvm_pulp.planning.cpu.strip_choices import strip_choices
from tvm_pulp.qnn.network import Layer, Tensor

Move = Callable[[CpuEvaluator, CpuPlan], Iterator[CpuDecisions]]


def cut_strips(evaluator: CpuEvaluator, plan: CpuPlan) -> Iterator[CpuDecisions]:
    """The first layers in strips of rows, where activations take more RAM than there is."""
    request, room = plan.request, evaluator.room_exceeded(plan)
    # Parts for threads, whole results and bytes between buffers are wanted as they are.
    if room is None or plan.groups or request.keep_layers or request.guard or not request.alone:
        return
    for strips in strip_choices(plan, room):
        yield replace(plan.decisions, strips=strips)


def widen_weights(evaluator: CpuEvaluator, plan: CpuPlan) -> Iterator[CpuDecisions]:
    """Weights of 16 bits as far as there is flash for them, those first that save most instructions for each byte."""
    spare, wide = evaluator.spare_flash(plan), dict[Tensor, int]()
    if spare <= 0:
        return
    stated = {name for name, wanted in plan.request.stated.layers.items() if wanted.form is not None}
    free = [layer for layer in plan.whole.layers if layer.name not in stated]
    forms = {layer.name: form for layer in free if (form := _wide_form(evaluator, layer)) is not None}
    for weight, more in _worth_widening(evaluator, plan, forms).items():
        if sum(wide.values()) + more <= spare:
            wide[weight] = more
    # Functions for them are code, too.
    while wide:
        chosen = {n.name: forms[n.name] for n in plan.whole.layers if n.name in forms and n.inputs[1] in wide}
        yield replace(plan.decisions, forms={**plan.decisions.forms, **chosen})
        wide.popitem()


def _wide_form(evaluator: CpuEvaluator, layer: Layer) -> str | None:
    """The form of a layer that takes more flash and fewer instructions."""
    offered = (o.form.name for o in evaluator.offers.of(layer) if o.form.takes_spare_flash and o.call is not None)
    return next(offered, None)


def _worth_widening(evaluator: CpuEvaluator, plan: CpuPlan, forms: dict[str, str]) -> dict[Tensor, int]:
    """Weights with the bytes that 16 bits take more, those first whose bytes save most: with most products each."""
    found: dict[Tensor, tuple[int, int]] = {}
    for layer in (layer for layer in plan.whole.layers if layer.name in forms):
        sizes = [
            call.constant_bytes
            for form in (plan.decisions.forms[layer.name], forms[layer.name])
            if (call := evaluator.offers.call(layer, form)) is not None
        ]
        weight = layer.inputs[1]
        found[weight] = (found.get(weight, (0, 0))[0] + layer.macs, sizes[-1] - sizes[0])
    order = sorted(found, key=lambda weight: -found[weight][0] / found[weight][1])
    return {weight: found[weight][1] for weight in order}


# In this order: what is cut has its final forms before flash is filled.
MOVES: tuple[Move, ...] = (cut_strips, widen_weights)
