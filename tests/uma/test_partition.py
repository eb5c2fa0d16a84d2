"""Partitioning: regions become functions, TVM finds the module well formed, and its network is the one it came from."""

from typing import Any

import pytest
from tvm import relax

from tests.golden.deeploy_cases import read_case
from tests.uma import small_graphs as graphs
from tests.uma.test_annotate import chain
from tvm_pulp.compilation import Compilation
from tvm_pulp.planning.lowering import rebuild_network, same_network
from tvm_pulp.qnn.network import Network
from tvm_pulp.uma.annotate import annotate
from tvm_pulp.uma.partition import partition
from tvm_pulp.uma.region import Region
from uma_backends.neureka import NeurekaBackend

# Integer, attention, several outputs, float kernels with workspaces, outputs that are inputs.
ZOO = ("resnet8", "dscnn", "tinyllama", "vit_block", "autoencoder")
GOLDEN = (
    "Kernels/Integer/Add/MultIO",
    "Kernels/Integer/Identity/MultiOutputIdentity",
    "Models/CCT/FP32/CCT_1_16_16_8",
    "Models/MLPerf/KeywordSpotting",
)


def module_of(network: Network) -> Any:
    assert network.origin is not None
    return network.origin.module


def network_of(model: Any) -> Network:
    return Compilation(model).network


def check(network: Network) -> None:
    """Every operator is a region; alternately of two engines."""
    regions = [Region(layer, f"e{i % 2}", layer.operator) for i, layer in enumerate(network.layers) if layer.variables]
    module = partition(module_of(network), regions)
    relax.analysis.well_formed(module)
    functions = [f for gv, f in module.functions.items() if isinstance(f, relax.Function) and gv.name_hint != "main"]
    assert sorted(str(f.attrs["Composite"]) for f in functions) == sorted(r.composite for r in regions)
    again = rebuild_network(network, module)
    assert same_network(again, network)
    assert [layer.codegen for layer in again.layers if layer.codegen] == [r.engine for r in regions]


@pytest.mark.parametrize("name", ZOO)
def test_zoo_networks_survive(name: str) -> None:
    check(network_of(f"zoo:{name}"))


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_networks_survive(golden_data: Any, name: str) -> None:
    check(network_of(read_case(golden_data, name).network))


def test_a_region_of_several_is_one_function() -> None:
    network = graphs.network(3, 16, chain)
    found = annotate(network, [(graphs.Patterns("one", {"both": graphs.dense_lookup_pattern}), None)]).regions
    module = partition(module_of(network), found)
    relax.analysis.well_formed(module)
    function = module["one_b"]
    assert (function.attrs["Composite"], function.attrs["Codegen"]) == ("one.both", "one")
    assert [p.name for p in function.params] == ["x"]
    again = rebuild_network(network, module)
    assert [layer.operator for layer in again.layers] == ["dense+lookup", "dense"]
    assert [layer.composite for layer in again.layers] == ["one.both", ""]
    assert [part.name for part in again.layers[0].parts] == ["a", "b"]


def test_a_view_inside_goes_along() -> None:
    def body(builder: Any, x: Any) -> list[Any]:
        a = builder.emit(graphs.dense(x, 16, 8), "a")
        return [builder.emit(graphs.lookup(builder.emit(relax.op.reshape(a, (24,)), "flat")), "b")]

    network = graphs.network(3, 16, body)
    module = partition(
        module_of(network), annotate(network, [(graphs.Patterns("one", {"p": graphs.reshaped_pattern}), None)]).regions
    )
    relax.analysis.well_formed(module)
    assert "reshape" in module["one_b"].script() and "reshape" not in module["main"].script()
    (layer,) = rebuild_network(network, module).layers
    assert layer.operator == "dense+lookup" and layer.outputs[0].spec.shape == (24,)


def test_changed_networks_are_told_apart() -> None:
    network = graphs.network(3, 16, chain)
    for seed in (0, 1):

        def body(builder: Any, x: Any, seed: int = seed) -> list[Any]:
            a = builder.emit(graphs.dense(x, 16, 8), "a")
            b = builder.emit(graphs.lookup(a, seed), "b")
            return [builder.emit(graphs.dense(b, 8, 4), "c")]

        assert same_network(graphs.network(3, 16, body), network) == (seed == 0)


def test_a_backend_alone_takes_all_it_could() -> None:
    module = Compilation("zoo:autoencoder").canonical
    partitioned = NeurekaBackend().partition(module)
    relax.analysis.well_formed(partitioned)
    composites = [f.attrs["Composite"] for gv, f in partitioned.functions.items() if gv.name_hint != "main"]
    assert len(composites) == 10 and set(composites) == {"neureka.dense"}


def test_larger_regions_come_first() -> None:
    patterns = {"dense": graphs.dense_pattern, "both": graphs.dense_lookup_pattern}
    partitioned = graphs.Patterns("one", patterns).partition(module_of(graphs.network(3, 16, chain)))
    functions = [(gv.name_hint, f) for gv, f in partitioned.functions.items() if gv.name_hint != "main"]
    assert {name: f.attrs["Composite"] for name, f in functions} == {"one_b": "one.both", "one_c": "one.dense"}
