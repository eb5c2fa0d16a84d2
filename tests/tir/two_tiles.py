"""A plan small enough to read: one layer of two rows, a tile each, on the cores."""

from __future__ import annotations

from typing import Any

from tvm_pulp import soc
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.tiling.build_schedule import LayerWork, Policy, build_schedule
from tvm_pulp.tiling.cluster import TiledForm
from tvm_pulp.tiling.greedy import Cuts
from tvm_pulp.tiling.place_blocks import place_blocks
from tvm_pulp.tiling.plan import LayerPlan, Plan, plan_l2
from tvm_pulp.tir.tiled_main import TiledMain, build_tiled_main, statement_name


def main_of(*, overlap: bool, layers: int = 1) -> TiledMain:
    """Transposes of a 2 x 64 tensor into itself, cut into two rows each."""
    spec = TensorSpec((2, 64), "int8")
    tensors = [Tensor("x", spec, "input"), *(Tensor(f"t{i}", spec, "activation") for i in range(layers - 1))]
    tensors.append(Tensor("y", spec, "output"))
    made = [
        Layer(f"layer{i}", "transpose", {"axes": [0, 1]}, [tensors[i]], [tensors[i + 1]], None) for i in range(layers)
    ]
    network = Network("net", made, tensors[:1], tensors[-1:])
    works, plans = [], []
    for layer in made:
        tiling = Cuts(TiledForm(layer, 8), layer).measure((1, 64))
        works.append(LayerWork(tuple(tiling.form.recipe(b) for b in tiling.tiles), overlap))
        plans.append(LayerPlan(layer, tiling, works[-1].recipes, overlap, (), ()))
    policy = Policy({}, dict.fromkeys(range(layers), 1) if overlap else {}, overlap)
    schedule = build_schedule(network, works, policy, 16384)
    peak = place_blocks(schedule.blocks, 16384)
    plan = Plan(network, soc.load("siracusa").name, 8, 16384, tuple(plans), schedule, plan_l2(schedule), peak, overlap)
    return build_tiled_main(plan)


def text(function: Any) -> list[str]:
    """Statements as `name(integers)`; places are left out."""
    lines = []
    for made in function.body.seq:
        numbers = [str(int(a.value)) for a in made.value.args[1:] if type(a).__name__ == "IntImm"]
        lines.append(f"{statement_name(made)}({', '.join(numbers)})")
    return lines
