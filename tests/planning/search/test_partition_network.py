"""What is printed as the partitioned module is what was compiled: a function per layer, with the layer's engine."""

import re
from typing import Any

import pytest
from tvm import relax

from tvm_pulp import api
from tvm_pulp.api import CompileOptions
from tvm_pulp.planning.lowering import rebuild_network, same_network

CASES: list[tuple[str, dict[str, Any]]] = [
    ("zoo:resnet8", {"target": "uma-neureka"}),
    ("zoo:tinyllama", {"target": "uma-neureka"}),
    ("zoo:vit_block", {"target": "c", "soc": "siracusa"}),
    ("zoo:autoencoder", {"target": "uma-neureka", "pins": {"dense1": "neureka+cluster", "dense2": "cluster"}}),
    ("zoo:dscnn", {"target": "c"}),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("model", "options"), CASES, ids=lambda value: str(value)[:40])
def test_every_layer_is_a_function_of_its_engine(model: str, options: dict[str, Any]) -> None:
    app = api.compile(model, **options)
    text = app.files["src/partitioned.relax.txt"].decode()
    found = re.findall(r"def (\w+)\(.*\n\s+R.func_attr\(\{\"Codegen\": \"(.*?)\", \"Composite\": \"(.*?)\"", text)
    engines = {name: (engine, composite) for name, engine, composite in found}
    layers = app.metadata["tvm_pulp"]["layers"]
    assert len(engines) == len(layers)
    for layer in layers:
        stated = layer.get("engine", "host")
        named = [name for name in engines if name.endswith(f"_{layer['name']}")]
        engine, composite = engines[min(named, key=len)]
        assert engine.split("+")[0] == stated and composite == f"{engine}.{layer['op']}"


def test_pins_of_two_engines_are_named_in_the_function() -> None:
    app = api.compile(CASES[3][0], **CASES[3][1])
    text = app.files["src/partitioned.relax.txt"].decode()
    assert '"Codegen": "neureka+cluster", "Composite": "neureka+cluster.dense"' in text
    assert "def cluster_dense2(" in text


@pytest.mark.sample(1)
@pytest.mark.parametrize(("model", "options"), CASES[:3], ids=lambda value: str(value)[:40])
def test_the_planned_network_is_that_of_a_well_formed_module(model: str, options: dict[str, Any]) -> None:
    network = api.Compilation(model, CompileOptions(**options)).plan.network
    assert network.origin is not None
    relax.analysis.well_formed(network.origin.module)
    assert same_network(rebuild_network(network, network.origin.module), network)
