"""Attention on engines that run whole heads, through compiler, driver and model."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import tvm_pulp
from tests.simulated.golden_cases import DATA, read_arrays
from tests.simulated.simulated_run import simulate as simulate_app
from tvm_pulp import soc
from tvm_pulp.codegen.mlf import read_plan
from tvm_pulp.entry_point import plan_for, prepare_module
from tvm_pulp.errors import UserError
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.planning.tir.lower import LoweredPlan
from tvm_pulp.target import Target
from tvm_pulp.uma.conformance.layer_network import Simulated, simulate, target_for
from uma_backends.ita.head_backend import HeadBackend

from .head_branches import branched_heads
from .head_reference import RULES, Head
from .networks import module_of, rule

SWAP = {"axes": [0, 2, 1, 3]}
ICCT = Path("deeploy/Models/CCT/Int/ICCT_ITA")


def planned(
    heads: list[Head], inputs: dict[str, np.ndarray], unit: int = 1024, softmax: str = "exact"
) -> tuple[Target, LoweredPlan]:
    """All heads of one attention as one network, whose result has an axis of heads."""
    (_, s, _), count, p = next(iter(inputs.values())).shape, len(heads), heads[0].weights["q"].shape[1]

    def define(emit: Any, given: list[Any]) -> Any:
        def projected(x: Any, name: str, told: tuple[int, int, int]) -> Any:
            attributes, operands = rule(*told)
            weights = np.concatenate([head.weights[name].T for head in heads])
            biases = np.concatenate([head.biases[name] for head in heads])
            operands = [x, weights, biases, *operands]
            made = emit("dense", operands, {"zero_point": 0, "has_bias": 1, **attributes})
            return emit("transpose", [emit("reshape", [made, (1, s, count, p)])], SWAP)

        def product(a: Any, b: Any, told: tuple[int, int, int], transpose_b: int) -> Any:
            attributes, operands = rule(*told)
            fixed = {"zero_point_a": 0, "zero_point_b": 0, "transpose_b": transpose_b}
            return emit("matmul", [a, b, *operands], {**fixed, **attributes})

        q, k = given[0], given[-1]
        logits = product(projected(q, "q", RULES[0]), projected(k, "k", RULES[1]), RULES[2], 1)
        form = {"form": "ita_partial_max", "levels": 256, "group": 16, "unit": unit}
        mixed = product(emit("softmax", [logits], form), projected(k, "v", RULES[3]), RULES[4], 0)
        matrices = np.stack([head.weights["o"] for head in heads])[None]
        return product(mixed, matrices, RULES[5], 0)

    backend = HeadBackend()
    target = target_for(soc.load("itapool"), backend, {"softmax": softmax})
    module = prepare_module(module_of(inputs, define), target)
    network = build_network(module, Imported(module, tuple(inputs), ("y",), "pulp"), "network")
    return target, plan_for(target, network)


def run_heads(heads: list[Head], inputs: dict[str, np.ndarray], **options: Any) -> Simulated:
    """The same, simulated twice."""
    return simulate(*planned(heads, inputs, **options), list(inputs.values()))


def without_output_bias(head: Head) -> Head:
    """Batched matrices of the output have no bias."""
    return Head(head.weights, {**head.biases, "o": np.zeros_like(head.biases["o"])}, head.rules)


@pytest.mark.parametrize("names", ["x", "qk"])
def test_more_heads_than_engines_run_in_rounds(names: str) -> None:
    """Five heads are a round of four and one of one; queries and keys of one tensor or two."""
    random = np.random.default_rng(len(names))
    heads = [without_output_bias(Head.random(random, 64, 64, RULES)) for _ in range(5)]
    inputs = {name: random.integers(-128, 128, (1, 64, 64)).astype(np.int8) for name in names}
    run = run_heads(heads, inputs)
    expected = np.stack([head.apply(inputs[names[0]][0], inputs[names[-1]][0]) for head in heads])[None]
    np.testing.assert_array_equal(run.outputs[0], expected)
    assert run.jobs["ita"] == 10, "five heads, two inferences"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_random_heads(seed: int) -> None:
    """One to nine heads of random sizes, as a rule with several rounds."""
    random = np.random.default_rng(100 + seed)
    count, (s, e, p) = 1 + seed % 9, (int(n) for n in random.choice([64, 128, 192, 256], 3))
    heads = [without_output_bias(Head.random(random, e, p, RULES)) for _ in range(count)]
    inputs = {name: random.integers(-128, 128, (1, s, e)).astype(np.int8) for name in ("x", "qk")[seed % 2]}
    run = run_heads(heads, inputs)
    first, last = (inputs[name][0] for name in (min(inputs, key="qxk".index), max(inputs, key="qxk".index)))
    np.testing.assert_array_equal(run.outputs[0], np.stack([head.apply(first, last) for head in heads])[None])
    assert run.jobs["ita"] == 2 * count


@pytest.mark.parametrize("apart", [False, True])
def test_branches_of_heads_are_joined(tmp_path: Path, apart: bool) -> None:
    """Heads that are taken one by one and added, if they are requantized alike; else as products."""
    onnx.save(branched_heads(5, apart=apart).model(), tmp_path / "branches.onnx")
    app = tvm_pulp.compile(tmp_path / "branches.onnx", target="uma-ita", soc="itapool", planner="greedy")
    plan = read_plan(app.files)
    assert plan is not None
    operators = {layer.op.split("+")[-1] for layer in plan.layers if layer.engine == "ita"}
    assert operators == ({"dense"} if apart else {"matmul"})
    host = tvm_pulp.compile(tmp_path / "branches.onnx").run()
    np.testing.assert_array_equal(simulate_app(app).outputs[0], next(iter(host.outputs.values())))


def test_a_softmax_of_other_sums_is_refused_or_asked_for() -> None:
    """Where the model adds 256ths the cores compute it, unless the engines' sums are wanted."""
    random = np.random.default_rng(3)
    heads = [without_output_bias(Head.random(random, 64, 64, RULES))] * 2
    inputs = {"x": random.integers(-128, 128, (1, 64, 64)).astype(np.int8)}
    run = run_heads(heads, inputs, unit=256, softmax="engine")
    assert run.jobs["ita"] == 4 and run.report["layers"][0]["deviation_lsb"] > 0
    by_cores = {
        layer.engine for layer in planned(heads, inputs, unit=256)[1].plan.layers if "softmax" in layer.layer.operator
    }
    assert by_cores == {"cluster"}


def test_options_belong_to_the_soc_that_has_such_engines() -> None:
    with pytest.raises(UserError, match="--target-uma-ita-softmax is unknown"):
        tvm_pulp.compile("zoo:octave_head", target="uma-ita", engine_options={"ita": {"softmax": "engine"}})


@pytest.mark.slow
def test_eight_heads_keep_four_engines_busy() -> None:
    """Two rounds of four heads, 7,880 cycles each by the assumption of the model; the host computes the same."""
    app = tvm_pulp.compile("zoo:eight_heads", target="uma-ita", soc="itapool")
    run = simulate_app(app)
    for result, expected in zip(run.outputs, tvm_pulp.compile("zoo:eight_heads").run().outputs.values(), strict=True):
        np.testing.assert_array_equal(result, expected)
    heads = next(layer for layer in run.report["layers"] if layer["engine"] == "ita")
    assert heads["tiles"] == 2 and 2 * 7_880 / heads["cycles"] >= 0.8


@pytest.mark.slow
def test_icct_ita_gives_its_golden_outputs(golden_data: object) -> None:
    """One head of 192: 7,880 cycles on its engine, by the assumption of the model; four share the layer behind it."""
    folder = DATA / ICCT
    inputs = read_arrays(folder / "inputs.npz")
    options = {"ita": {"softmax": "engine"}}
    app = tvm_pulp.compile(
        folder / "network.onnx", target="uma-ita", soc="itapool", sample_inputs=inputs, engine_options=options
    )
    run = simulate_app(app, dict(inputs))
    for result, (_, golden) in zip(run.outputs, read_arrays(folder / "outputs.npz"), strict=True):
        np.testing.assert_array_equal(result, golden)
    head, *products = [layer for layer in run.report["layers"] if layer["engine"] == "ita"]
    assert 7_880 / head["cycles"] >= 0.75
    assert [layer["op"] for layer in products] == ["dense", "dense"]
    assert 8_024 / products[0]["cycles"] >= 0.7 and run.report["cycles"] < 135_000
