"""Order of layers: dependencies hold, chains stay, cores work while an accelerator does, like follows like."""

from hypothesis import given
from hypothesis import strategies as st

from tvm_pulp.planning.search.seeds.order_layers import EngineDemand, depth_order, layer_order
from tvm_pulp.qnn.network import Layer, Network, Tensor
from tvm_pulp.qnn.tensor_spec import TensorSpec
from tvm_pulp.soc import CostModel, load

SPEC = TensorSpec((4,), "int8")
COSTS = CostModel(load("siracusa"))


def network(reads: list[list[int]]) -> Network:
    """Layer i reads the results of the layers `reads[i]`, or the network's input."""
    source = Tensor("x", SPEC, "input")
    layers: list[Layer] = []
    for index, earlier in enumerate(reads):
        inputs = [layers[e].outputs[0] for e in earlier] or [source]
        layers.append(Layer(f"l{index}", "add", {}, inputs, [Tensor(f"y{index}", SPEC, "activation")], None))
    return Network("n", layers, [source], [layers[-1].outputs[0]])


def test_a_chain_keeps_its_order() -> None:
    demands = [EngineDemand("npu" if i % 2 else None, 100, (f"code{i}",)) for i in range(5)]
    assert layer_order(network([[], [0], [1], [2], [3]]), demands, COSTS).layers == (0, 1, 2, 3, 4)


def test_jobs_are_submitted_before_cores_work() -> None:
    # Two branches, job then kernel: both jobs first, so that the second runs beside the first kernel.
    job = EngineDemand("npu", 1000, queue=2, words=25)
    demands = [job, EngineDemand(None, 500, ("a",)), job, EngineDemand(None, 500, ("b",))]
    order = layer_order(network([[], [0], [], [2], [1, 3]]), [*demands, EngineDemand(None, 10, ("c",))], COSTS).layers
    assert order == (0, 2, 1, 3, 4)


def test_cores_do_what_is_ready_while_an_accelerator_works() -> None:
    demands = [
        EngineDemand("npu", 1000, words=25),
        EngineDemand(None, 100, ("after",)),
        EngineDemand(None, 100, ("free",)),
    ]
    assert layer_order(network([[], [0], []]), demands, COSTS).layers == (0, 2, 1)


def test_like_follows_like() -> None:
    demands = [
        EngineDemand(None, 100, ("a",)),
        EngineDemand(None, 100, ("b",)),
        EngineDemand(None, 100, ("a",)),
        EngineDemand(None, 100, ("b",)),
    ]
    assert layer_order(network([[], [], [], []]), demands, COSTS).layers == (0, 2, 1, 3)


def test_cores_take_what_would_wait_for_an_accelerator() -> None:
    demands = [
        EngineDemand("npu", 1000, on_cores=EngineDemand(None, 1500), words=25),
        EngineDemand("npu", 1000, on_cores=EngineDemand(None, 1500), words=25),
    ]
    order = layer_order(network([[], []]), demands, COSTS)
    assert (order.layers, order.on_cores) == ((0, 1), {1})
    slow = [
        EngineDemand("npu", 1000, on_cores=EngineDemand(None, 5000), words=25),
        EngineDemand("npu", 1000, on_cores=EngineDemand(None, 5000), words=25),
    ]
    assert not layer_order(network([[], []]), slow, COSTS).on_cores


def test_a_short_branch_is_over_when_the_long_one_comes_to_their_join() -> None:
    # As in a residual block: two layers on one way, and behind them the one of the other.
    assert depth_order(network([[], [0], [1], [0], [2, 3]])).layers == (0, 1, 3, 2, 4)
    assert depth_order(network([[], [0], [1]])).layers == (0, 1, 2)


def test_the_longest_way_to_the_end_goes_first() -> None:
    # Layer 1 is short, but a long one waits for it; equally long ones keep their order.
    demands = [
        EngineDemand(None, 100, ("a",)),
        EngineDemand(None, 50, ("b",)),
        EngineDemand(None, 100, ("c",)),
        EngineDemand(None, 400, ("d",)),
    ]
    assert layer_order(network([[], [], [], [1]]), demands, COSTS).layers == (1, 3, 0, 2)
    jobs = [
        EngineDemand("npu", 100, words=25),
        EngineDemand("npu", 50, words=25),
        EngineDemand("npu", 100, words=25),
        EngineDemand("npu", 400, words=25),
    ]
    assert layer_order(network([[], [], [], [1]]), jobs, COSTS).layers == (1, 3, 0, 2)


def test_code_at_hand_counts_more_than_the_way_to_the_end() -> None:
    demands = [EngineDemand(None, 900, ("a",)), EngineDemand(None, 500, ("b",)), EngineDemand(None, 100, ("a",))]
    assert layer_order(network([[], [], []]), demands, COSTS).layers == (0, 2, 1)


def test_an_accelerator_is_given_as_many_jobs_as_it_holds() -> None:
    orders = {1: (0, 4, 5, 1, 2, 3), 2: (0, 1, 4, 5, 2, 3), 3: (0, 1, 2, 4, 5, 3)}
    for queue, order in orders.items():
        demands = [
            *(EngineDemand("npu", 1000, queue=queue, words=25) for _ in range(4)),
            *(EngineDemand(None, 100, ("a",)) for _ in range(2)),
        ]
        assert layer_order(network([[], [], [], [], [], []]), demands, COSTS).layers == order


def test_submitting_takes_time() -> None:
    """A job that is over when another engine's has been submitted frees what waits for it; a longer one does not."""
    submit = COSTS.submit_cycles(25)
    for cycles, order in ((submit - 2, (0, 1, 2, 3)), (submit + 2, (0, 1, 3, 2))):
        demands = [
            EngineDemand("npu", cycles, words=25),
            EngineDemand("dsp", 10, words=25),
            EngineDemand(None, 500, ("after",)),
            EngineDemand(None, 10, ("free",)),
        ]
        assert layer_order(network([[], [], [0], []]), demands, COSTS).layers == order


@given(st.data())
def test_operands_are_made_before_they_are_read(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    reads = [data.draw(st.lists(st.integers(0, i - 1), max_size=3, unique=True)) if i else [] for i in range(count)]
    cycles, codes = st.integers(0, 500), st.sampled_from([("a",), ("b",), ("c",)])
    on_cores = st.none() | st.builds(EngineDemand, st.none(), cycles, codes)
    engines = st.sampled_from([None, "npu", "dsp"])
    demand = st.builds(EngineDemand, engines, cycles, codes, on_cores, words=st.integers(2, 30))
    order = layer_order(network(reads), [data.draw(demand) for _ in range(count)], COSTS).layers
    assert sorted(order) == list(range(count))
    for index, earlier in enumerate(reads):
        assert all(order.index(e) < order.index(index) for e in earlier)
