"""Cycles of networks from real tools, on the engine and with the options that their bounds are for."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.real_models import catalog
from tests.real_models.agreement import compare

pytest.importorskip("onnxruntime.quantization")


def test_held_networks_have_bounds() -> None:
    assert all(catalog.MODELS[name].cycle_bound for name in catalog.HELD)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(catalog.HELD))
def test_within_its_bound(name: str, tmp_path: Path) -> None:
    entry, feeds = catalog.MODELS[name], catalog.sample_inputs(name)
    assert entry.cycle_bound is not None
    result = tvm_pulp.compile(catalog.write(name, tmp_path), **entry.options).run(feeds)
    agreement = compare(catalog.build(name), result.outputs, catalog.expected_outputs(name, feeds))
    assert agreement.holds, agreement
    assert result.report["cycles"] <= entry.cycle_bound


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(catalog.HELD_NATIVE))
def test_within_its_bound_natively(name: str, tmp_path: Path) -> None:
    entry, feeds = catalog.MODELS[name], catalog.sample_inputs(name)
    assert entry.native_cycle_bound is not None
    options = {**entry.options, "engine_options": {"neureka": {"requant": "native"}}}
    report = tvm_pulp.compile(catalog.write(name, tmp_path), **options).run(feeds).report
    assert report["cycles"] <= entry.native_cycle_bound
