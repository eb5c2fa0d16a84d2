"""Float models become quantized ones that agree with them, within a stated loss; what cannot be is one sentence."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tvm_pulp
from tests.report.verify.small_models import float_classifier, quantized_classifier
from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.errors import UserError
from tvm_pulp.frontend import zoo
from tvm_pulp.frontend.quantize.accuracy import run_model
from tvm_pulp.frontend.quantize.onnxruntime_quantizer import grid

pytest.importorskip("onnxruntime")


def images(count: int = 8) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((count, 3, 8, 8)).astype(np.float32)


@pytest.mark.parametrize(
    "name",
    ["dscnn", pytest.param("resnet8", marks=pytest.mark.slow), pytest.param("mobilenetv1", marks=pytest.mark.slow)],
)
def test_float_twins_of_the_zoo_agree(name: str) -> None:
    calibration, _ = zoo.float_samples(name, 24, part="calibration")
    samples, labels = zoo.float_samples(name, 120)
    model = zoo.build_float(name)
    made = tvm_pulp.quantize(model, calibration, evaluation=samples)
    assert made.accuracy.rows == 120 and made.accuracy.arg_max_agreement >= 0.99 and made.kept == ()
    assert made.accuracy.sqnr_db > 10
    # The twin tells its classes apart, so agreement says something.
    feeds = [{n: a[i : i + 1] for n, a in samples.items()} for i in range(120)]
    answers = [outputs[0].argmax() for outputs in run_model(model, feeds)]
    assert np.mean(np.asarray(answers) == labels) > 0.95 and len(set(answers)) == len(set(labels))


def test_a_twin_is_the_same_every_time() -> None:
    assert zoo.build_float("dscnn").SerializeToString() == zoo.build_float("dscnn").SerializeToString()
    with pytest.raises(UserError, match="has no float twin: choose one of dscnn"):
        zoo.build_float("tinyllama")


def test_the_result_compiles_to_integers_and_agrees_layer_by_layer(tmp_path: Path) -> None:
    made = tvm_pulp.quantize(float_classifier(), {"image": images()})
    made.save(tmp_path / "q.onnx")
    app = tvm_pulp.compile(tmp_path / "q.onnx", io="int8", keep_layers=True)
    assert app.metadata["tvm_pulp"]["inputs"][0]["dtype"] == "int8"
    table = app.run(layers=True).compare()
    assert table.first_wrong is None and not any("float" in row.operator for row in table.rows)
    assert [row.name for row in made.layers] == ["first_conv", "second_conv", "classes"]
    assert all(row.sqnr_db > made.accuracy.sqnr_db - 1 for row in made.layers)


def test_padded_activations_are_symmetric() -> None:
    """The image can be negative and is padded; what ReLU made uses its whole range."""
    made = tvm_pulp.quantize(float_classifier(), {"image": images()}).model
    constants = {i.name: onnx.numpy_helper.to_array(i) for i in made.graph.initializer}
    quantizers = {n.input[0]: constants[n.input[2]] for n in made.graph.node if n.op_type == "QuantizeLinear"}
    assert quantizers["image"] == 0 and quantizers["first_relu"] == -128
    weights = [a for a in constants.values() if a.dtype == np.int8 and a.ndim == 4]
    assert len(weights) == 2


def fidelity(model: Any) -> float:
    """1 for the float model, less by the noise relative to the signal."""
    feeds = [{"image": image[None]} for image in images(16)]
    wanted, found = (np.concatenate([o[0] for o in run_model(m, feeds)]) for m in (float_classifier(), model))
    return 1 - float(np.linalg.norm(wanted - found) / np.linalg.norm(wanted))


def test_layers_stay_float_until_the_loss_is_small_enough() -> None:
    samples = {"image": images(16)}
    coarse = tvm_pulp.quantize(float_classifier(), samples, weight_bits=4, metric=fidelity)
    assert coarse.kept == () and coarse.accuracy.loss > 0.03
    kept = tvm_pulp.quantize(float_classifier(), samples, weight_bits=4, metric=fidelity, max_loss=0.03)
    assert kept.accuracy.loss <= 0.03 and 0 < len(kept.kept) < 3
    # The one that makes most noise is among them.
    assert min(kept.layers, key=lambda row: row.sqnr_db).name == kept.kept[0]
    stated = tvm_pulp.quantize(float_classifier(), samples, weight_bits=4, keep=("second_conv",))
    assert stated.kept == ("second_conv",) and stated.accuracy.sqnr_db > coarse.accuracy.sqnr_db


def test_a_metric_of_the_user_decides() -> None:
    """It sees both models; what it gives is what the loss is of."""
    seen: list[Any] = []

    def metric(model: Any) -> float:
        seen.append(model)
        return 1.0 if not any(n.op_type == "QuantizeLinear" for n in model.graph.node) else 0.5

    made = tvm_pulp.quantize(float_classifier(), {"image": images()}, metric=metric)
    assert made.accuracy.metric == (1.0, 0.5) and made.accuracy.loss == 0.5 and len(seen) == 2
    with pytest.raises(UserError, match="no choice of layers keeps the loss below 10"):
        tvm_pulp.quantize(
            float_classifier(), {"image": images()}, metric=lambda m: -float(len(m.graph.node)), max_loss=0.1
        )


def masked_attention(mask: float, how: str) -> Any:
    """Scores of a sequence with itself, those of what comes later masked, as likelihoods that weigh its rows."""
    later = np.triu(np.ones((6, 6), bool), 1)
    constants = {"w": np.random.default_rng(4).standard_normal((8, 8)).astype(np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["q"], name="q"),
        helper.make_node("Transpose", ["x"], ["k"], perm=[0, 2, 1], name="k"),
        helper.make_node("MatMul", ["q", "k"], ["scores"], name="scores"),
    ]
    if how == "Add":
        constants["mask"] = np.where(later, np.float32(mask), np.float32(0))
        nodes.append(helper.make_node("Add", ["scores", "mask"], ["masked"], name="masked"))
    else:
        constants |= {"later": later, "mask": np.array(mask, np.float32)}
        nodes.append(helper.make_node("Where", ["later", "mask", "scores"], ["masked"], name="masked"))
    nodes.append(helper.make_node("Softmax", ["masked"], ["likely"], axis=-1, name="likely"))
    nodes.append(helper.make_node("MatMul", ["likely", "x"], ["y"], name="y"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 6, 8)) for name in ("x", "y")]
    initializers = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "attention", ends[:1], ends[1:], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.mark.parametrize(("mask", "how"), [(-np.inf, "Add"), (-3.4e38, "Add"), (-1e4, "Add"), (-np.inf, "Where")])
def test_masks_leave_steps_for_what_they_are_added_to(mask: float, how: str, tmp_path: Path) -> None:
    samples = {"x": np.random.default_rng(5).standard_normal((8, 6, 8)).astype(np.float32)}
    made = tvm_pulp.quantize(masked_attention(mask, how), samples)
    assert made.accuracy.sqnr_db > 25 and made.accuracy.arg_max_agreement > 0.95
    made.save(tmp_path / "q.onnx")
    x = samples["x"][:1]
    result = tvm_pulp.compile(tmp_path / "q.onnx", keep_layers=True).run([x], layers=True)
    assert result.compare().first_wrong is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(256) / 255, (1 / 255, -128)),
        (np.arange(-128, 128) / 128, (1 / 128, 0)),
        (np.arange(0, 100) / 64, (1 / 64, 0)),
        (np.arange(0, 300) / 64, None),
        (np.array([0.0, 0.3, 1.0]), None),
        (np.zeros(4), None),
        (np.arange(200, 256) / 255, (1 / 255, -128)),
    ],
)
def test_inputs_in_steps_keep_them(values: np.ndarray, expected: tuple[float, int] | None) -> None:
    found = grid([values.astype(np.float32)])
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert found[0] == pytest.approx(expected[0], rel=1e-3) and found[1] == expected[1]


def test_the_command_line_writes_the_model_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(float_classifier(), tmp_path / "net.onnx")
    np.savez(tmp_path / "c.npz", image=images())
    arguments = [tmp_path / "net.onnx", "--calibration", tmp_path / "c.npz", "-o", tmp_path / "q.onnx", "-q"]
    done = tvmc(capsys, "quantize", *arguments, "--weight-bits", "4", "--keep", "classes")
    assert done.status == 0 and "arg-max agreement" in done.out and "kept in float" in done.out
    assert tvmc(capsys, "compile", "-q", tmp_path / "q.onnx", "-o", tmp_path / "q.tar").status == 0


def _calibrations() -> dict[str, tuple[dict[str, np.ndarray], tuple[str, ...]]]:
    wrong = images().copy()
    wrong[0, 0, 0, 0] = np.nan
    return {
        "shape": ({"image": np.zeros((4, 3, 8, 9), np.float32)}, ("'image'", "[4, 3, 8, 9]", "3x8x8")),
        "nan": ({"image": wrong}, ("'image'", "not finite")),
        "none": ({"image": np.zeros((0, 3, 8, 8), np.float32)}, ("no sample",)),
        "text": ({"image": np.array(["a", "b"])}, ("not numbers",)),
        "names": ({"a": images(), "b": images()}, ("no array for input 'image'", "a, b")),
    }


@pytest.mark.parametrize("case", _calibrations())
def test_a_broken_calibration_is_one_sentence(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrays, words = _calibrations()[case]
    onnx.save(float_classifier(), tmp_path / "net.onnx")
    np.savez(tmp_path / "c.npz", **arrays)  # type: ignore[arg-type]
    arguments = [tmp_path / "net.onnx", "--calibration", tmp_path / "c.npz", "-o", tmp_path / "q.onnx", "-q"]
    check_refused(tvmc(capsys, "quantize", *arguments), words, "quantize")
    assert not (tmp_path / "q.onnx").exists()


def test_other_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    model, quantized = tmp_path / "net.onnx", quantized_classifier(tmp_path / "done.onnx")
    onnx.save(float_classifier(), model)
    np.savez(tmp_path / "c.npz", image=images(2))
    (tmp_path / "rubbish.npz").write_bytes(b"no archive")
    rest = ["--calibration", tmp_path / "c.npz", "-o", tmp_path / "q.onnx", "-q"]

    def refuses(words: tuple[str, ...], *arguments: str | Path) -> None:
        check_refused(tvmc(capsys, "quantize", *arguments), words, "quantize")

    refuses(("already quantized", "DequantizeLinear"), quantized, *rest)
    refuses(("does not exist",), tmp_path / "absent.onnx", *rest)
    refuses(("not an ONNX file",), tmp_path / "c.npz", *rest)
    refuses(("--keep 'nothing'", "first_conv"), model, *rest, "--keep", "nothing")
    refuses(("--weight-bits 3",), model, *rest, "--weight-bits", "3")
    refuses(("--max-loss",), model, *rest, "--max-loss", "2")
    refuses(("--method 'best'",), model, *rest, "--method", "best")
    refuses(("cannot be read as .npz",), model, "--calibration", tmp_path / "rubbish.npz", *rest[2:])
    refuses(("does not exist",), model, "--calibration", tmp_path / "absent.npz", *rest[2:])
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(sys.modules, "onnxruntime.quantization", None)
    refuses(("pip install 'tvm_pulp[quantize]'",), model, *rest)
