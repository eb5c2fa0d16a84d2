"""Networks as model hubs hold them: on NEUREKA what onnxruntime computes, and no large layer at a crawl."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tvm_pulp
from tests.hub.catalog import NETWORKS

pytest.importorskip("onnxruntime.quantization")

# A layer of so many multiply-accumulates does at least two of them a cycle.
LARGE_LAYER = 50_000


def test_the_list_covers_every_family() -> None:
    families = Counter(network.family for network in NETWORKS.values())
    assert len(NETWORKS) >= 60 and min(families.values()) >= 5, families


def test_a_seed_gives_one_network(tmp_path: Path) -> None:
    network = NETWORKS["keras_depthwise_4"]
    first, again = (network.write(tmp_path).read_bytes() for _ in range(2))
    assert first == again
    assert len({network.macs for network in NETWORKS.values()}) > 0.8 * len(NETWORKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_it_computes_what_its_framework_does(name: str, tmp_path: Path) -> None:
    network = NETWORKS[name]
    path, feeds = network.write(tmp_path), network.sample()
    result = tvm_pulp.compile(path, target="uma-neureka").run(feeds)
    agreement = network.agreement(path, feeds, result.outputs)
    assert agreement.holds, agreement
    layers = [layer for layer in result.report["layers"] if layer["macs"] >= LARGE_LAYER]
    slow = {layer["name"]: layer["macs"] / np.float64(layer["cycles"]) for layer in layers}
    assert min(slow.values(), default=2) >= 2, slow
