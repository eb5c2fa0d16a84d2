"""Each change that `tvmc explain` suggests, made for real: the simulator sees the saving that was planned."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import pytest

import tvm_pulp
from tests.explain.suggestions import changed_models
from tests.report.verify.small_models import float_classifier
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp import api
from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.activations import plain_activations, symmetric_activations
from tvm_pulp.explain.suggestions.base import Change
from tvm_pulp.explain.suggestions.four_bit_weights import four_bit_weights
from tvm_pulp.explain.suggestions.inexact_rounding import inexact_rounding
from tvm_pulp.explain.suggestions.integer_ends import integer_ends
from tvm_pulp.explain.suggestions.last_softmax import last_softmax
from tvm_pulp.explain.suggestions.quantized_model import quantized_model
from tvm_pulp.explain.suggestions.separable_convolution import separable_convolution
from tvm_pulp.explain.suggestions.smaller_kernels import smaller_kernels

NEUREKA = {"target": "uma-neureka", "planner": "greedy"}
CLUSTER = {"target": "c", "soc": "siracusa", "planner": "greedy"}
NATIVE = {"engine_options": {"neureka": {"requant": "native"}}}


@dataclass(frozen=True)
class Case:
    """A change, the model that it is suggested for, and the model or the options that are it."""

    offer: Callable[[Compilation], Change | None]
    before: Callable[[], Any]
    after: Callable[[], Any]
    options: dict[str, Any]
    changed: dict[str, Any]


CASES = {
    "inexact-rounding": Case(inexact_rounding, changed_models.plain, changed_models.plain, NEUREKA, NATIVE),
    "integer-ends": Case(integer_ends, changed_models.wide_ends, changed_models.wide_ends, CLUSTER, {"io": "int8"}),
    "quantized-model": Case(quantized_model, float_classifier, changed_models.quantized, CLUSTER, {}),
    "last-softmax": Case(last_softmax, changed_models.with_softmax, changed_models.without_softmax, CLUSTER, {}),
    "plain-activations": Case(plain_activations, changed_models.with_hardswish, changed_models.plain, CLUSTER, {}),
    "symmetric-activations": Case(
        symmetric_activations, changed_models.asymmetric, changed_models.symmetric, NEUREKA, {}
    ),
    "four-bit-weights": Case(four_bit_weights, changed_models.eight_bits, changed_models.four_bits, NEUREKA, {}),
    "smaller-kernels": Case(smaller_kernels, changed_models.wide_kernels, changed_models.plain, NEUREKA, {}),
    "separable-convolution": Case(
        separable_convolution, changed_models.full_convolution, changed_models.separable, CLUSTER, {}
    ),
}
# Of the others the same is shown in the full test set.
QUICK = ("inexact-rounding", "quantized-model")


def measured_cycles(path: Path, options: dict[str, Any]) -> int:
    return int(tvm_pulp.compile(path, **options).run().report["cycles"])


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in CASES])
def test_a_change_saves_what_was_planned(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(case.before(), before)
    onnx.save(case.after(), after)
    options = api.CompileOptions(**case.options)
    compilation = Compilation(before, options)
    plan = compilation.plan
    change = case.offer(compilation)
    assert change is not None and change.name == name
    expected = plan.estimated_cycles - change.apply(compilation).plan.estimated_cycles
    found = measured_cycles(before, case.options) - measured_cycles(after, {**case.options, **case.changed})
    assert expected > 0.01 * plan.estimated_cycles
    assert found == pytest.approx(expected, rel=0.3), (expected, found, plan.estimated_cycles)
    assert expected <= 1.05 * change.bound_cycles


def test_explain_ends_with_what_saves_most(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(changed_models.plain(), tmp_path / "net.onnx")
    arguments = ["explain", tmp_path / "net.onnx", "--target=uma-neureka", "--planner=greedy"]
    lines = tvmc(capsys, *arguments).out.splitlines()
    place = lines.index("what would save most, each change planned by itself:")
    told = lines[place + 1 :]
    assert 1 <= len(told) <= 3 and all(line.startswith(f"  {n}. about ") for n, line in enumerate(told, start=1))
    savings = [int(line.split()[2].replace(",", "")) for line in told]
    assert savings == sorted(savings, reverse=True)
    assert any("--target-uma-neureka-requant native" in line for line in told)
    fewer = tvmc(capsys, *arguments, "--suggestions", "0").out.splitlines()
    assert fewer == lines[:place]
    check_refused(tvmc(capsys, *arguments, "--suggestions", "-1"), ("--suggestions -1",), "explain")


def test_where_nothing_pays_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Integers at both ends, rounding as the engine does it, four-bit weights."""
    from tvm_pulp.frontend import zoo

    onnx.save(zoo.build("autoencoder", weight_bits=4), tmp_path / "net.onnx")
    done = tvmc(capsys, "explain", tmp_path / "net.onnx", "--target=uma-neureka", "--planner=greedy")
    assert done.out.splitlines()[-1].startswith("no change of the model or its quantization")
