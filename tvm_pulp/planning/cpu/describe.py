"""A plan for a CPU by itself as plan.json has it."""

from collections.abc import Iterator

from tvm_pulp.planning.cpu.plan import CalledLayer, CpuPlan, LoweredCpuPlan
from tvm_pulp.planning.program.cpu_plan_record import CpuLayer, CpuPlanJson, CpuStep, Held, Sized, Touch
from tvm_pulp.planning.program.plan_record import PlaceJson
from tvm_pulp.planning.tiling.place.placer import Buffer
from tvm_pulp.qnn.network import Tensor


def lowered_cpu_plan(plan: CpuPlan) -> LoweredCpuPlan:
    """A plan with its record."""
    return LoweredCpuPlan(plan, describe_cpu(plan))


def describe_cpu(plan: CpuPlan) -> CpuPlanJson:
    """The record of a plan."""
    request, decisions, arena, network = plan.request, plan.decisions, plan.arena, plan.network
    parts = decisions.parts or {}
    outputs = dict.fromkeys(t.storage for t in network.outputs)
    return CpuPlanJson(
        soc=request.soc,
        ram_limit=request.ram_limit,
        flash_limit=request.flash_limit,
        threads=decisions.parts is not None,
        strips=decisions.strips,
        layers=tuple(
            CpuLayer(
                name=layer.name,
                op=layer.operator,
                nodes=layer.nodes,
                form=decisions.forms[layer.name],
                parts=parts.get(layer.name, 1),
            )
            for layer in plan.whole.layers
        ),
        arena_bytes=arena.size,
        largest_live_set=arena.largest_live_set,
        buffers=tuple(PlaceJson(_key(b).name, arena.offsets[b.key], b.size, (b.first, b.last)) for b in arena.buffers),
        tensors=tuple(_held(plan)),
        constants=tuple(_sized(t) for t in network.constants()),
        inputs=tuple(_sized(t.storage) for t in network.inputs),
        outputs=tuple(_sized(t) for t in outputs if t.kind == "output"),
        program=tuple(_steps(plan)),
    )


def _key(buffer: Buffer) -> Tensor:
    assert isinstance(buffer.key, Tensor)
    return buffer.key


def _held(plan: CpuPlan) -> Iterator[Held]:
    """Tensors of the arena: what takes the place of another lies in its buffer."""
    for tensor, offset in plan.arena.offsets.items():
        assert isinstance(tensor, Tensor)
        yield Held(tensor.name, plan.taken.get(tensor, tensor).name, offset, tensor.spec.bytes)


def _sized(tensor: Tensor) -> Sized:
    return Sized(tensor.name, tensor.spec.bytes)


def _touch(tensor: Tensor) -> Touch:
    return Touch(tensor.storage.name, tensor.first * tensor.spec.itemsize, tensor.spec.bytes)


def _steps(plan: CpuPlan) -> Iterator[CpuStep]:
    counts = plan.groups or (1,) * len(plan.layers)
    moments = [moment for moment, count in enumerate(counts) for _ in range(count)]
    for moment, layer in zip(moments, plan.layers, strict=True):
        yield _step(moment, layer)


def _step(moment: int, layer: CalledLayer) -> CpuStep:
    called, places = layer.called, () if layer.call is None else layer.call.overwrites
    return CpuStep(
        name=called.name,
        layer=layer.of,
        moment=moment,
        macs=called.macs,
        reads=tuple(_touch(t) for t in called.inputs if t.spec.bytes),
        writes=tuple(_touch(t) for t in called.outputs if t.spec.bytes),
        work=tuple(_touch(t) for t in called.workspaces if t.spec.bytes),
        overwrites=tuple(called.inputs[place].storage.name for place in places),
    )
