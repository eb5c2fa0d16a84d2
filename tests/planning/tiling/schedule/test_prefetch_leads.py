"""Leads: a transfer is issued as late as still hides it."""

from tests.planning.tiling.schedule.choices import chosen
from tvm_pulp.planning.tiling.schedule.choice import Choice
from tvm_pulp.planning.tiling.schedule.prefetch_leads import leads_of_order, prefetch_leads
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load
from tvm_pulp.uma.box import Box
from tvm_pulp.uma.recipe import Call, CoreCost, Load, Local, Recipe

COSTS = CostModel(load("siracusa"))


def layer(cycles: int, constant_bytes: int) -> Choice:
    """A layer of one step that needs so many bytes of constants."""
    spec = TensorSpec((constant_bytes,), "uint8")
    tensor, local = Tensor("c", spec, "constant"), Local("c", spec)
    result = Local("y", TensorSpec((1,), "int8"))
    call = Call("f", "struct f", (), (), (local,), (result,), CoreCost(cycles))
    return chosen(Recipe((Load(tensor, Box.whole(spec.shape), local), call)))


def test_small_constants_are_fetched_one_step_ahead() -> None:
    assert prefetch_leads([layer(1000, 64) for _ in range(4)], 0, COSTS) == [1, 1, 1, 1]


def test_large_constants_are_fetched_as_early_as_their_transfer_takes() -> None:
    # 20,000 bytes take 2,500 cycles, 2,900 while cores work in L1: three steps of 1,000.
    leads = prefetch_leads(
        [
            layer(1000, 0),
            layer(1000, 0),
            layer(1000, 0),
            layer(1000, 0),
            layer(1000, 20000),
        ],
        0,
        COSTS,
    )
    assert leads[-1] == 3


def test_slack_fetches_earlier() -> None:
    assert prefetch_leads([layer(1000, 64) for _ in range(4)], 1500, COSTS) == [1, 1, 2, 2]


def test_transfers_wait_for_each_other() -> None:
    # Both need almost three steps, and the DMA brings them one after the other.
    layers = [layer(1000, 0) for _ in range(8)] + [layer(1000, 20000), layer(1000, 20000)]
    leads = prefetch_leads(layers, 0, COSTS)
    assert leads[-1] == 3
    assert leads[-2] == 5


def test_a_layer_that_begins_between_tiles_of_another_is_fetched_for_by_its_own_place() -> None:
    """Its first step is the third of all: that many are beside its transfer, not all of the layer before it."""
    before = chosen(*(recipe for _ in range(6) for recipe in layer(1000, 0).recipes))
    layers = [before, layer(1000, 20000)]
    steps = [(0, tile, step) for tile, step in before.order]
    mixed = [*steps[:2], (1, 0, layers[1].order[0][1]), *steps[2:]]
    assert prefetch_leads(layers, 0, COSTS)[1] == leads_of_order([*steps, mixed[2]], layers, 0, COSTS)[1] == 3
    assert leads_of_order(mixed, layers, 0, COSTS)[1] == 2
