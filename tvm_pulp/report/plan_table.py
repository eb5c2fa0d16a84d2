"""The plan as a table: layer by layer engine, form, tiles, where the output goes, expected cycles, bound."""

from collections.abc import Iterator
from typing import TextIO

from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan
from tvm_pulp.qnn.network import Network, Tensor
from tvm_pulp.report.figures import summed
from tvm_pulp.report.fitted_table import print_fitted, print_wrapped
from tvm_pulp.report.pipelines import overlap_texts


def plan_rows(plan: Plan) -> Iterator[tuple[str, ...]]:
    """One row of texts per layer."""
    resident = {t.name for t in plan.schedule.resident}
    stored = {m.source.storage.name for m in plan.schedule.moves if m.outward and isinstance(m.source, Tensor)}
    moved = [0] * len(plan.layers)
    for move in plan.schedule.moves:
        moved[move.layer] += sum(t.bytes for t in move.transfers)
    for index, layer in enumerate(plan.layers):
        name = layer.layer.outputs[0].storage.name
        places = [level for level, there in (("L1", name in resident), ("L2", name in stored)) if there]
        tile = "x".join(map(str, layer.tiling.size))
        yield (
            layer.layer.name,
            layer.layer.operator,
            layer.engine,
            layer.tiling.form.name,
            f"{len(layer.tiles)} of {tile}",
            "double" if layer.two_copies else "single",
            "+".join(places) or "L2",
            f"{moved[index]:,}",
            f"{layer.estimated_cycles:,}",
            f"{layer.tiling.form.bound_cycles():,}",
            _offers(layer),
        )


def _offers(layer: LayerPlan) -> str:
    """Best offers of the other engines, without any overlap."""
    best: dict[str, int] = {}
    for offer in layer.offers:
        if offer.cycles is not None and offer.engine != layer.engine:
            best[offer.engine] = min(offer.cycles, best.get(offer.engine, offer.cycles))
    return ", ".join(f"{engine} {cycles:,}" for engine, cycles in best.items()) or "-"


_WORDS = ("layer", "op", "engine", "form", "tiles", "buffers", "output in")
_COLUMNS = (*_WORDS, "DMA bytes", "estimate", "bound", "others")


def print_plan(plan: Plan, stream: TextIO, described: PlanJson) -> None:
    """Table of layers and a line of totals."""
    title = f"plan for {plan.soc}, {plan.cores} cores, {plan.l1_bytes:,} bytes of L1"
    print_fitted(title, _COLUMNS, list(plan_rows(plan)), len(_WORDS), stream)
    constants = summed((constant.level, constant.bytes) for constant in described.constants)
    levels = ", ".join(f"{size:,} bytes of constants in {level}" for level, size in constants.items())
    print_wrapped(
        f"about {plan.estimated_cycles:,} cycles; L1 peak {plan.l1_peak:,}; L2 activations {plan.arena.size:,} "
        f"(largest live set {plan.arena.largest_live_set:,}); {levels or 'no constants'}",
        stream,
    )
    for text in overlap_texts(described):
        print_wrapped(text, stream)
    print_state(plan.network, stream)
    for line in _planner_lines(plan):
        print_wrapped(line, stream)


def _planner_lines(plan: Plan) -> list[str]:
    """The way in which the plan was found."""
    found = plan.planner
    if found is None:
        return []
    lines = [f"planner {found.name}: '{found.chosen}' is the fastest of {found.attempts} plans by estimate"]
    if found.gap is not None:
        lines.append(
            f"solver: {found.status}, objective {found.objective_cycles:,} cycles, bound {found.bound_cycles:,}, "
            f"gap {100 * found.gap:.2f} %, {found.deterministic_time} deterministic seconds, "
            f"{plan.solver_seconds:.1f} s"
        )
    return lines


def print_state(network: Network, stream: TextIO) -> None:
    """Print the memory that caches lie in, if there are any."""
    for level in dict.fromkeys(s.level for s in network.states):
        kept = [s for s in network.states if s.level == level]
        count = f"{len(kept)} cache{'s' if len(kept) > 1 else ''}"
        print(f"state: {count}, {sum(s.bytes for s in kept):,} bytes in {level.upper()}", file=stream)
