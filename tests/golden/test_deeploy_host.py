"""Deeploy's golden networks, compiled for this machine: one test each."""

from pathlib import Path

import pytest

import tvm_pulp
from tests.golden.deeploy_cases import CASES, read_case


def test_every_golden_network_has_a_test(golden_data: Path) -> None:
    folder = golden_data / "deeploy"
    assert sorted(CASES) == sorted(p.parent.relative_to(folder).as_posix() for p in folder.rglob("network.onnx"))
    assert len(CASES) == 70


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", CASES)
def test_network(golden_data: Path, name: str) -> None:
    case = read_case(golden_data, name)
    app = tvm_pulp.compile(case.network, sample_inputs=case.inputs)
    # Two runs: the second must not see what the first left in the arena.
    result = app.run(dict(case.inputs), repeat=2)
    case.check(list(result.outputs.values()))
