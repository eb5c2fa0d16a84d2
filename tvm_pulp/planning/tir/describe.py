"""The plan as data, with the program it became: what the verifier, the archive and pictures are made from."""

from tvm_pulp.planning.program import plan_record as record
from tvm_pulp.planning.program.plan_record import PlanJson
from tvm_pulp.planning.tiling.forms import team_of_form
from tvm_pulp.planning.tiling.plan import LayerPlan
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.program import Bundle
from tvm_pulp.planning.tir.lower import LoweredPlan


def describe(lowered: LoweredPlan) -> PlanJson:
    """Everything that was decided, and the program that came of it."""
    plan = lowered.plan
    arena, schedule, network = plan.arena, plan.schedule, plan.network
    placed = [
        record.PlaceJson(t.name, arena.offsets[t], t.spec.bytes, alive)
        for t, alive in schedule.l2_alive.items()
        if t in arena.offsets
    ]
    return PlanJson(
        soc=plan.soc,
        cores=plan.cores,
        l1_bytes=plan.l1_bytes,
        l1_peak=plan.l1_peak,
        double_buffer=plan.policy.overlap,
        l3_batch=plan.policy.l3_batch,
        bundle_bytes=plan.policy.bundle_bytes,
        interleave=plan.policy.interleave,
        planner=plan.planner,
        l2=record.L2(arena.size, arena.largest_live_set, tuple(placed)),
        blocks=tuple(record.PlaceJson(b.name, b.offset, b.bytes, (b.first, b.last)) for b in schedule.blocks),
        constants=tuple(record.Constant(t.name, level, t.spec.bytes) for t, level in plan.constants().items()),
        state=tuple(record.Constant(network.inputs[s.past].name, s.level, s.bytes) for s in network.states),
        bundles=tuple(_bundle(b) for b in schedule.bundles),
        inputs=tuple(t.storage.name for t in network.inputs),
        outputs=tuple(t.storage.name for t in network.outputs),
        resident={t.name: tuple(sorted(readers)) for t, readers in plan.policy.resident.items()},
        layers=tuple(_layer(p, plan.policy, index) for index, p in enumerate(plan.layers)),
        program=lowered.program,
    )


def _layer(plan: LayerPlan, policy: Policy, index: int) -> record.LayerJson:
    tiling = plan.tiling
    return record.LayerJson(
        name=plan.layer.name,
        op=plan.layer.operator,
        nodes=tuple(plan.layer.nodes),
        engine=plan.engine,
        form=tiling.form.name,
        tile=tuple(tiling.size),
        tiles=tuple(record.Tile(tuple(b.start), tuple(b.size)) for b in tiling.tiles),
        two_copies=plan.two_copies,
        exclusive=plan.exclusive,
        joins=policy.joins(index),
        team=team_of_form(tiling.form),
        lead=policy.leads.get(index, 0),
        pages=plan.pages if plan.pages > 1 else None,
        estimated_cycles=plan.estimated_cycles,
        outputs=tuple(record.OutputJson(t.storage.name, tuple(t.spec.shape), t.spec.bytes) for t in plan.layer.outputs),
    )


def _bundle(bundle: Bundle) -> record.BundleJson:
    pieces = (record.PieceJson(f"{p.tensor.storage.name}{p.box}", p.offset, p.bytes) for p in bundle.pieces)
    return record.BundleJson(bundle.name, bundle.bytes, tuple(pieces))
