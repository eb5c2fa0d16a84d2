"""A fault in one layer's constants is found, and named, on every target; the same program without it agrees."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp
from tests.report.verify.small_models import quantized_classifier
from tests.tvmc.command_line import tvmc
from tvm_pulp import api, entry_point
from tvm_pulp.qnn.network import Tensor
from tvm_pulp.target import Target

_GREEDY = {"planner": "greedy"}
# Options of `compile`, the engine whose layer is damaged, and what the model is compared with.
TARGETS: dict[str, tuple[Mapping[str, Any], str, str]] = {
    "host": ({"target": "c"}, "host", "onnxruntime"),
    "siracusa": ({"target": "c", "soc": "siracusa", **_GREEDY}, "cluster", "onnxruntime"),
    "neureka": ({"target": "uma-neureka", **_GREEDY}, "neureka", "onnxruntime"),
    "snitch": ({"target": "c", "soc": "snitch-ita", **_GREEDY}, "cluster", "onnxruntime"),
    "ita": ({"target": "uma-ita", "soc": "snitch-ita", **_GREEDY}, "ita", "numpy"),
    "rv32-mcu": ({"target": "c", "soc": "rv32-mcu", **_GREEDY}, "cluster", "onnxruntime"),
    "qvanilla": ({"target": "uma-qvanilla", **_GREEDY}, "qvanilla", "onnxruntime"),
}


@dataclass
class Emission:
    """Emits a compiled network again."""

    constants: list[Tensor]
    again: Callable[[], dict[str, bytes]]

    def damaged(self, layer: str) -> dict[str, bytes]:
        """With the largest constant of a layer wrong in every value."""
        wrong = max((t for t in self.constants if t.name.startswith(f"{layer}_")), key=lambda t: t.spec.bytes)
        right = wrong.data
        assert right is not None
        wrong.data = np.frombuffer(bytes(255 - b for b in right.tobytes()), right.dtype).reshape(right.shape)
        try:
            return self.again()
        finally:
            wrong.data = right


@pytest.fixture
def emissions(monkeypatch: pytest.MonkeyPatch) -> list[Emission]:
    """Every emission of the test."""
    made: list[Emission] = []
    to_cluster, to_host = entry_point.emit_for, entry_point.emit

    def cluster(target: Target, lowered: Any, *rest: Any) -> dict[str, bytes]:
        made.append(Emission(list(lowered.plan.constants()), lambda: to_cluster(target, lowered, *rest)))
        return made[-1].again()

    def host(lowered: Any, *rest: Any) -> Any:
        made.append(Emission(lowered.plan.network.constants(), lambda: to_host(lowered, *rest).files))
        return to_host(lowered, *rest)

    monkeypatch.setattr(entry_point, "emit_for", cluster)
    monkeypatch.setattr(entry_point, "emit", host)
    return made


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", TARGETS)
def test_the_layer_is_named(target: str, emissions: list[Emission], tmp_path: Path) -> None:
    options, engine, framework = TARGETS[target]
    model = "zoo:octave_attention" if target == "ita" else quantized_classifier(tmp_path / "net.onnx")
    app = tvm_pulp.compile(model, keep_layers=True, **options)
    right = app.run(layers=True).compare()
    assert right.framework == framework and right.first_wrong is None and not right.unseen, right.sentence
    # A layer with weights in the middle, of the engine that the target is about.
    candidates = [row for row in right.rows if row.engine == engine and row.operator in ("conv2d", "dense")]
    fault = candidates[len(candidates) // 2].name
    files = emissions[0].damaged(fault)
    assert files.keys() <= app.files.keys() and any(app.files[name] != data for name, data in files.items())
    wrong = api.App(app.files | files, compilation=app.compilation).run(layers=True).compare()
    assert wrong.first_wrong == fault
    assert f"layer '{fault}'" in wrong.sentence and "LSB" in wrong.sentence
    # What follows it gets other operands and does its own work well.
    assert [row.name for row in wrong.rows if row.wrong] == [fault]


def test_the_command_line_names_it(
    emissions: list[Emission], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = quantized_classifier(tmp_path / "net.onnx")
    np.savez(tmp_path / "in.npz", np.random.default_rng(5).standard_normal((1, 3, 8, 8)).astype(np.float32))
    right = tvmc(capsys, "verify", model, "-q", "-i", tmp_path / "in.npz")
    assert right.status == 0 and "none differs more than it may" in right.out and "WRONG" not in right.out
    fault = next(layer.split()[0] for layer in right.out.splitlines() if " conv2d " in layer)
    damaged, compile_with = emissions[0].damaged(fault), api.compile_with
    monkeypatch.setattr(
        api, "compile_with", lambda *a: api.App((c := compile_with(*a)).files | damaged, compilation=c.compilation)
    )
    wrong = tvmc(capsys, "verify", model, "-q", "-i", tmp_path / "in.npz")
    assert wrong.status == 1 and f"layer '{fault}' (conv2d on host) is the first that differs" in wrong.err
    assert [line.split()[0] for line in wrong.out.splitlines() if "WRONG" in line] == [fault]


def test_a_fault_of_the_import_is_named_too(tmp_path: Path) -> None:
    """The program does what the compiler wants, and the compiler wants something else than the framework."""
    model = quantized_classifier(tmp_path / "net.onnx")
    app = tvm_pulp.compile(model, keep_layers=True)
    result = app.run(layers=True)
    table = result.compare()
    from tvm_pulp.report.verify import compare_layers, model_values

    assert app.compilation is not None
    imported, network = app.compilation.imported, app.compilation.entry.partitioned
    values = model_values(Path(model), imported, dict(zip(imported.inputs, result.inputs, strict=True)))
    row = next(row for row in table.rows if row.operator == "add")
    # As if the framework computed something else from here on, under a name that the layer has.
    changed = values.tensors[row.tensor].astype(np.int64) // 2
    values.tensors[row.tensor] = changed.astype(values.tensors[row.tensor].dtype)
    values.tensors[row.name] = values.tensors.pop(row.tensor)
    result_of = {**(result.layers or {})}
    again = compare_layers(network, result.inputs, result_of, values, {}, {})
    assert again.first_wrong == row.name and "it is not what onnxruntime computes" in again.sentence
