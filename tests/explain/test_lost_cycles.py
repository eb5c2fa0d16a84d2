"""Losses of a plan: those of refused layers and of rounding on the cores, largest first, with their reasons."""

import io
import re

import onnx
import pytest

from tests.real_models.exported_graph import ExportedGraph
from tests.real_models.quantizers import int8
from tvm_pulp.compilation import Compilation
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.explain.lost_cycles import lost_cycles, print_lost_cycles


def network() -> onnx.ModelProto:
    """A wide depthwise convolution between two that every array has."""
    g = ExportedGraph("losses")
    x = g.conv(g.input("input", [1, 8, 12, 12]), 8, 32, 1)
    x = g.conv(g.conv(x, 32, 32, 11, groups=32), 32, 16, 1)
    g.output(x, [1, 16, 12, 12])
    model = g.model()
    samples = [{"input": g.normal(1, 8, 12, 12)} for _ in range(2)]
    return int8(model, samples)


def test_refused_layers_come_with_their_remedy() -> None:
    pytest.importorskip("onnxruntime.quantization")
    compilation = Compilation(network(), CompileOptions(target="uma-neureka", planner="greedy"))
    found = lost_cycles(compilation.plan, compilation.imported.nodes)
    assert [loss.cycles for loss in found] == sorted((loss.cycles for loss in found), reverse=True)
    assert all(loss.cycles < compilation.plan.estimated_cycles for loss in found)
    stream = io.StringIO()
    print_lost_cycles(compilation.plan, compilation.imported.nodes, stream)
    told = stream.getvalue()
    wide = r"\d\. about [\d,]+ cycles \(\d+ %\) in '.*': not on neureka: a depthwise 11x11 kernel is not 3x3; use a 3x3"
    assert re.search(wide, told), told
    assert "the cores requantize because" in told or "it is float" in told, told


@pytest.mark.parametrize(("channels", "told"), [(29, "29 input channels leave most"), (28, "")])
def test_channels_that_just_miss_the_array(channels: int, told: str) -> None:
    """Of 29 input channels one takes a whole step of an array of 28."""
    g = ExportedGraph("padded")
    x = g.conv(g.conv(g.input("input", [1, 16, 12, 12]), 16, channels, 1), channels, 32, 3)
    g.output(x, [1, 32, 12, 12])
    model = int8(g.model(), [{"input": g.normal(1, 16, 12, 12)} for _ in range(2)])
    plan = Compilation(model, CompileOptions(target="uma-neureka", planner="greedy")).plan
    found = [loss for loss in lost_cycles(plan) if "leave most" in loss.reason]
    assert [loss.reason[: len(told)] for loss in found] == ([told] if told else [])
    assert all("with 28 the engine takes" in loss.reason for loss in found)
