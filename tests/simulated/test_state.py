"""Golden decoders with state instead of cache inputs and outputs: same values, and only new rows are written."""

import json

import numpy as np
import pytest

import tvm_pulp
from tests.simulated.golden_cases import CONFIGURATIONS, DATA, read_arrays
from tvm_pulp.errors import UserError
from tvm_pulp.frontend import zoo

FOLDER = DATA / "deeploy" / "Models" / "microLlama" / "INT8"
# Network, engines, where the caches lie.
CASES = [
    ("microLlama1", "neureka-sram", "l2", ()),
    ("microLlama16_parallel", "cluster", "l2", (pytest.mark.slow,)),
    ("microLlama1", "neureka-sram", "l1", (pytest.mark.slow,)),
    ("microLlama1", "neureka-sram", "l3", (pytest.mark.slow,)),
    ("microLlama64", "neureka-sram", "l1", (pytest.mark.slow,)),
    ("microLlama64", "neureka-sram", "l2", (pytest.mark.slow,)),
    ("microLlama64", "neureka-sram", "l3", (pytest.mark.slow,)),
    ("microLlama128", "cluster", "l2", (pytest.mark.slow,)),
    ("microLlama64_parallel", "neureka-sram", "l2", (pytest.mark.slow,)),
]


def positions_first(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array.transpose(0, 2, 1, 3))


@pytest.mark.parametrize(
    ("case", "configuration", "level"), [pytest.param(*c[:3], marks=c[3], id=f"{c[0]}-{c[2]}") for c in CASES]
)
def test_state_holds_what_the_golden_caches_hold(case: str, configuration: str, level: str) -> None:
    if not FOLDER.exists():
        pytest.skip(f"golden data not found at {DATA}: set TVM_PULP_DATA to its folder")
    inputs = read_arrays(FOLDER / case / "inputs.npz")
    model = FOLDER / case / "network.onnx"
    app = tvm_pulp.compile(model, state=True, state_memory=level, sample_inputs=inputs, **CONFIGURATIONS[configuration])
    facts = app.metadata["tvm_pulp"]
    # Hidden state, mask and rotation, then the caches.
    given = {
        spec["name"]: (positions_first(array) if place > 2 else array).astype(spec["dtype"])
        for place, (spec, (_, array)) in enumerate(zip(facts["inputs"], inputs, strict=True))
    }
    runner = app.runner("iss")
    found = list(app.run(given).outputs.values())
    expected = [array for _, array in read_arrays(FOLDER / case / "outputs.npz")]
    np.testing.assert_array_equal(found[0], expected[0])
    for cache, golden in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(positions_first(cache), golden)
    # The last run had two inferences. Each wrote its output and the new rows of keys and values; nothing was moved.
    rows = sum(array.size * inputs[0][1].shape[1] // array.shape[2] for array in expected[1:])
    assert runner.statistics().counters.dma["bytes_out"] == 2 * (expected[0].size + rows)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["l1", "l3"])
def test_a_small_decoder_gives_the_same_from_everywhere(level: str) -> None:
    given = zoo.sample_inputs("tinyllama")
    expected = list(tvm_pulp.compile("zoo:tinyllama").run(given).outputs.values())
    options = {"target": "c", "soc": "siracusa", "state": True, "planner": "greedy"}
    app = tvm_pulp.compile("zoo:tinyllama", state_memory=level, **options)
    kept = json.loads(app.files["plan.json"])["state"]
    assert {cache["level"] for cache in kept} == {level} and len(kept) == len(expected) - 1
    turned = [positions_first(array) if place > 2 else array for place, array in enumerate(given)]
    runner = app.runner("iss")
    found = list(app.run(turned).outputs.values())
    np.testing.assert_array_equal(found[0], expected[0])
    for cache, wanted in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(positions_first(cache), wanted)
    rows = sum(array.size // array.shape[2] for array in expected[1:])
    assert runner.statistics().counters.l3["bytes_written"] == (2 * rows if level == "l3" else 0)


def test_a_network_without_cache_is_a_users_error() -> None:
    with pytest.raises(UserError, match=r"--state: no cache is recognised"):
        tvm_pulp.compile("zoo:autoencoder", target="c", soc="siracusa", state=True)


def test_a_soc_without_cluster_is_a_users_error() -> None:
    with pytest.raises(UserError, match=r"--state has no effect on --soc host"):
        tvm_pulp.compile("zoo:tinyllama", state=True)
