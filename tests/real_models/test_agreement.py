"""Whole networks of real tools on this machine's C, against onnxruntime without graph optimizations."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.real_models import catalog
from tests.real_models.agreement import compare
from tests.real_models.macs import count_macs

pytest.importorskip("onnxruntime.quantization")

# Compiled and run within a few seconds.
QUICK = ("dscnn", "tcn", "resnet8_pt2e_xnnpack")


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in catalog.MODELS]
)
def test_agrees_with_onnxruntime(name: str, tmp_path: Path) -> None:
    app = tvm_pulp.compile(catalog.write(name, tmp_path))
    for seed in range(2):
        feeds = catalog.sample_inputs(name, seed)
        agreement = compare(catalog.build(name), app.run(feeds).outputs, catalog.expected_outputs(name, feeds))
        assert agreement.holds, agreement


@pytest.mark.parametrize(("name", "macs"), [("dscnn", 2_656_768), ("resnet8", 12_501_632), ("gpt_prefill", 1_769_472)])
def test_macs_are_those_of_the_literature(name: str, macs: int) -> None:
    assert count_macs(catalog.MODELS[name].float_model()) == macs
