"""Little L1: convolutions with large windows and filters keep their kernels and their engine; always bit-exact."""

from typing import Any

import pytest

from tests.simulated.test_planner import check


def convolutions(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [layer for layer in report["plan"]["layers"] if layer["op"] == "conv2d"]


@pytest.mark.slow
@pytest.mark.parametrize("l1", [8192, 16384])
def test_on_the_cores(l1: int) -> None:
    """Windows for every core would not fit: they are laid out once for all cores."""
    forms = {layer["form"] for layer in convolutions(check("zoo:resnet8", target="c", soc="siracusa", l1=l1))}
    assert "im2col + dense kernel" in forms and "tiled" not in forms


@pytest.mark.slow
@pytest.mark.parametrize("l1", [8192, 16384])
def test_on_neureka(l1: int) -> None:
    """Filters of 32 output channels would not fit: jobs have fewer."""
    options = {"neureka": {"weight_memory": "none"}}
    layers = convolutions(check("zoo:resnet8", target="uma-neureka", engine_options=options, l1=l1))
    assert all(layer["engine"] == "neureka" for layer in layers)
    assert any(layer["tile"][-1] < min(32, layer["outputs"][0]["shape"][-1]) for layer in layers)


@pytest.mark.slow
def test_large_tiles_one_after_the_other() -> None:
    """Operands of a job give way to those of the next step where two jobs have no room side by side."""
    report = check("zoo:mobilenetv1", target="uma-neureka", l1=16384)
    assert any(layer["alone"] for layer in report["plan"]["layers"])
