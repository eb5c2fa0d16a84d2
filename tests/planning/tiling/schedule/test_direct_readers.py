"""What a kernel reads in L2 itself is there before it begins: no store of it runs beside that kernel."""

import pytest

from tests.planning.tiling.schedule.choices import chosen
from tvm_pulp import soc
from tvm_pulp.planning.program.positions import compute_position
from tvm_pulp.planning.tiling.forms.cluster_forms import DirectForm, TiledForm
from tvm_pulp.planning.tiling.forms.cuts import Cuts
from tvm_pulp.planning.tiling.schedule.build_program import build_program
from tvm_pulp.planning.tiling.schedule.decisions import Policy
from tvm_pulp.planning.tiling.schedule.program import Program
from tvm_pulp.planning.tiling.schedule.split_transfers import CommandLimits
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.qnn.tiles import Box

L1_BYTES, TILES = 16384, 4


def _schedule(between: int) -> Program:
    """A tensor made in tiles, other layers, and one that reads it where it lies."""
    spec, costs = TensorSpec((TILES, 64), "int8"), soc.CostModel(soc.load("siracusa"), 8)
    x, made, y = Tensor("x", spec, "input"), Tensor("made", spec, "activation"), Tensor("y", spec, "output")
    others = [Tensor(f"other{i}", spec, "output") for i in range(between)]
    ends = [(x, made), *((x, other) for other in others), (made, y)]
    layers = [Layer(f"layer{i}", "transpose", {"axes": [0, 1]}, [a], [b], None) for i, (a, b) in enumerate(ends)]
    tiled = []
    for layer in layers[:-1]:
        tiling = Cuts(TiledForm(layer, costs), layer, costs).measure((1, 64))
        tiled.append(chosen(*(tiling.form.recipe(box) for box in tiling.tiles), two_copies=True))
    tiled.append(chosen(DirectForm(layers[-1], costs).recipe(Box.whole(spec.shape)), two_copies=True))
    software = soc.load("siracusa").software
    commands = CommandLimits(software.dma_largest, software.dma_lines)
    policy = Policy(leads=dict.fromkeys(range(len(layers)), 1), commands=commands)
    return build_program(Network("net", layers, [x], [*others, y]), tiled, policy, L1_BYTES)


@pytest.mark.parametrize("between", [0, 1])
def test_stores_end_before_a_kernel_that_reads_l2(between: int) -> None:
    stores = [m.position for m in _schedule(between).moves if m.outward and m.source.name == "made"]
    reader = compute_position(TILES * (between + 1))
    assert len(stores) == TILES and max(stores) < reader
    # Beside the next tile, and beside another layer's first.
    overlapped = [p for p in stores if p % 3 == compute_position(0) % 3]
    assert len(overlapped) == TILES - 1 + between
