"""Plans small enough to read: layers on the cores, cut as the test wants them."""

from collections.abc import Sequence
from typing import Any

from tvm_pulp import soc
from tvm_pulp.planning.tiling.forms.cluster_forms import TiledForm
from tvm_pulp.planning.tiling.forms.cuts import Cuts
from tvm_pulp.planning.tiling.place.place_blocks import place_blocks
from tvm_pulp.planning.tiling.plan import LayerPlan, Plan, plan_l2
from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits
from tvm_pulp.planning.tir.statements import Main
from tvm_pulp.planning.tir.tables import Tables
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec

L1_BYTES = 16384


def plan_of(layers: Sequence[Layer], size: tuple[int, ...], *, overlap: bool, cores: int = 8) -> Plan:
    """A chain of layers, each cut into tiles of `size`."""
    network = Network("net", list(layers), layers[0].inputs[:1], layers[-1].outputs)
    plans = []
    costs = soc.CostModel(soc.load("siracusa"), cores)
    for layer in layers:
        tiling = Cuts(TiledForm(layer, costs), layer, costs).measure(size)
        plans.append(LayerPlan(tiling, overlap, L1_BYTES, layer=layer))
    software = soc.load("siracusa").software
    limits = CommandLimits(software.dma_largest, software.dma_lines)
    policy = Policy(leads=dict.fromkeys(range(len(layers)), 1) if overlap else {}, overlap=overlap, commands=limits)
    schedule = build_program(network, plans, policy, L1_BYTES)
    peak = place_blocks(schedule.blocks, L1_BYTES)
    name = soc.load("siracusa").name
    return Plan(network, name, cores, L1_BYTES, tuple(plans), schedule, plan_l2(schedule, policy), peak, policy=policy)


def two_tiles(*, overlap: bool, layers: int = 1, cores: int = 8) -> Tables:
    """Transposes of a 2 x 64 tensor into itself, cut into two rows each."""
    spec = TensorSpec((2, 64), "int8")
    tensors = [Tensor("x", spec, "input"), *(Tensor(f"t{i}", spec, "activation") for i in range(layers - 1))]
    tensors.append(Tensor("y", spec, "output"))
    made = [
        Layer(f"layer{i}", "transpose", {"axes": [0, 1]}, [tensors[i]], [tensors[i + 1]], None) for i in range(layers)
    ]
    return Tables(plan_of(made, (1, 64), overlap=overlap, cores=cores))


def statements(main: Main) -> list[str]:
    """Statements as text with all arguments: `dma_load(2, 5, L1(1024), AT(x, 64), 32)`."""
    return lines(main.function)


def lines(function: Any) -> list[str]:
    """The calls of a function in TIR as text."""

    def text(value: Any) -> str:
        if hasattr(value, "args"):
            name, *rest = value.args
            return f"{name.value}({', '.join(text(r) for r in rest)})"
        return str(value.value)

    return [text(made.value) for made in function.body.seq]


def numbers(main: Main) -> list[str]:
    """Statements as `name(integers)`; places are left out."""
    result = []
    for made in main.function.body.seq:
        arguments = made.value.args
        found = [str(a.value) for a in arguments[1:] if type(a).__name__ == "IntImm"]
        result.append(f"{arguments[0].value}({', '.join(found)})")
    return result
