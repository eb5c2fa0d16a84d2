"""The public interface in two minutes: compile a network, run it, look at the report."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tvm_pulp
from tests.codegen.small_networks import classifier
from tests.codegen.unpacked import save_model
from tests.language_models.exported_decoders import exported
from tvm_pulp import api
from tvm_pulp.errors import UserError
from tvm_pulp.frontend import zoo


def test_two_lines() -> None:
    app = tvm_pulp.compile("zoo:resnet8")
    result = app.run(zoo.sample_inputs("resnet8"))
    assert list(result.outputs) == ["logits"] and result.outputs["logits"].dtype == np.int8
    assert result.report["macs"] == 12_501_632


def test_an_onnx_model_in_memory_is_taken_as_its_file(tmp_path: Path) -> None:
    model = classifier()
    files = api.Compilation(save_model(model, tmp_path)).files
    assert api.Compilation(model).files == files
    with pytest.raises(UserError, match="example_inputs has no effect on an ONNX model"):
        tvm_pulp.compile(model, example_inputs=(1,))


def test_a_decoder_in_memory_is_a_decoder() -> None:
    model = onnx.load_from_string(exported("llama", "static"))
    assert api.Compilation(model, api.CompileOptions(capacity=8)).language_model is not None


def test_weights_that_are_elsewhere_are_refused(tmp_path: Path) -> None:
    """Data of a model in memory whose file is not named: nothing is looked for in the current folder."""
    onnx.save(classifier(), tmp_path / "net.onnx", save_as_external_data=True, size_threshold=0)
    with pytest.raises(UserError, match="external"):
        tvm_pulp.compile(onnx.load(tmp_path / "net.onnx", load_external_data=False))


def test_inputs_by_name_position_or_seed(tmp_path: Path) -> None:
    app = tvm_pulp.compile(save_model(classifier(), tmp_path))
    x = np.random.default_rng(0).integers(0, 256, (1, 4, 6, 6)).astype(np.uint8)
    by_name = app.run({"image": x}).outputs["classes"]
    by_position = app.run([x]).outputs["classes"]
    # Any array type will do whose values fit.
    by_another_type = app.run([x.astype(np.float32)]).outputs["classes"]
    np.testing.assert_array_equal(by_name, by_position)
    np.testing.assert_array_equal(by_name, by_another_type)
    np.testing.assert_array_equal(app.run().outputs["classes"], app.run().outputs["classes"])


@pytest.mark.parametrize(
    ("option", "hint"),
    [("l_1", "did you mean 'l1'"), ("modulename", "did you mean 'module_name'"), ("zzz", "engine_options")],
)
def test_misspelt_options_name_the_right_one(option: str, hint: str) -> None:
    with pytest.raises(UserError, match=rf"compile\(\) has no option '{option}': .*{hint}"):
        tvm_pulp.compile("zoo:resnet8", **{option: 1})


def test_sizes_are_numbers_or_texts() -> None:
    wanted = {"target": "c", "soc": "siracusa", "planner": "greedy"}
    plans = [api.Compilation("zoo:autoencoder", api.CompileOptions(l1=size, **wanted)).plan for size in (65536, "64k")]
    assert plans[0].l1_bytes == plans[1].l1_bytes == 65536


def test_save_and_load(tmp_path: Path) -> None:
    app = tvm_pulp.compile("zoo:autoencoder")
    app.save(tmp_path / "net.tar")
    again = tvm_pulp.App.load(tmp_path / "net.tar")
    name = next(iter(app.run().outputs))
    np.testing.assert_array_equal(again.run().outputs[name], app.run().outputs[name])


def test_samples_decide_the_types_of_inputs(tmp_path: Path) -> None:
    # The dialect declares floats; values tell that the input is unsigned.
    model = classifier()
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
    path = save_model(model, tmp_path)
    samples = [("image", np.full((1, 4, 6, 6), 200.0, np.float32))]
    assert tvm_pulp.compile(path).metadata["tvm_pulp"]["inputs"][0]["dtype"] == "int8"
    sampled = tvm_pulp.compile(path, sample_inputs=samples).metadata["tvm_pulp"]
    assert sampled["inputs"][0]["dtype"] == "uint8" and sampled["inferred_inputs"] == ["image"]
    stated = tvm_pulp.compile(path, input_types={"image": "uint8"})
    assert stated.metadata["tvm_pulp"]["inferred_inputs"] == []
    with pytest.raises(UserError, match="--input-types or --sample-inputs"):
        tvm_pulp.compile(path).run([np.full((1, 4, 6, 6), 200)])


def test_float_networks_stay_float(tmp_path: Path) -> None:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 5]) for n in "xy")
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], axis=-1)], "softmax", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "f.onnx")
    app = tvm_pulp.compile(tmp_path / "f.onnx", input_shapes={"x": (3, 5)})
    data = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    expected = np.exp(data) / np.exp(data).sum(-1, keepdims=True)
    np.testing.assert_allclose(app.run([data]).outputs["y"], expected, atol=1e-6)


def test_progress_is_a_callback() -> None:
    said: list[str] = []
    tvm_pulp.compile("zoo:autoencoder", progress=said.append)
    assert len(said) >= 4 and "importing" in said[0]


def test_two_apps_of_one_network_do_not_share_memory() -> None:
    app, other = tvm_pulp.compile("zoo:autoencoder"), tvm_pulp.compile("zoo:autoencoder")
    x, z = zoo.sample_inputs("autoencoder", 0), zoo.sample_inputs("autoencoder", 1)
    first = next(iter(app.run(x).outputs.values())).copy()
    other.run(z)
    np.testing.assert_array_equal(next(iter(app.run(x).outputs.values())), first)


def test_an_output_that_is_another_view_keeps_its_name() -> None:
    """A convolution of one dimension becomes one of two, and its result a view of that one's."""
    weight = onnx.numpy_helper.from_array(np.ones((2, 2, 3), np.float32), "w")
    node = helper.make_node("Conv", ["signal", "w"], ["filtered"], name="filter", pads=[1, 1])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, 2, 8)) for name in ("signal", "filtered")]
    graph = helper.make_graph([node], "net", ends[:1], ends[1:], [weight])
    app = tvm_pulp.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    assert list(app.run().outputs) == ["filtered"]
