"""Functions and modules of JAX compile, quantize and verify like any other model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx.numpy_helper import to_array

import tvm_pulp
from tests.tvmc.command_line import tvmc
from tvm_pulp.errors import UserError

jax = pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")

from tests.frontend.stablehlo_program import jax_networks  # noqa: E402  (needs jax)
from tvm_pulp.frontend.frameworks import as_program, onnx_model  # noqa: E402

pytestmark = pytest.mark.jax


def only(result: Any) -> np.ndarray:
    (value,) = result.outputs.values()
    return np.asarray(value)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", jax_networks.CASES)
def test_float_on_the_host_equals_jax(name: str) -> None:
    model, inputs = jax_networks.CASES[name]()
    expected = jax_networks.computed(model, inputs)
    app = tvm_pulp.compile(model, example_inputs=inputs)
    for _ in range(2):
        assert np.abs(only(app.run(list(inputs))) - expected).max() <= 1e-4 * max(1, np.abs(expected).max())


@pytest.mark.parametrize("channels", [1, 4])
def test_averages_that_do_not_count_padding_are_one_pool(channels: int) -> None:
    from flax import linen

    def pool(image: Any) -> Any:
        return linen.avg_pool(image, (3, 3), (2, 2), "SAME", count_include_pad=False)

    image = np.random.default_rng(6).normal(size=(1, 8, 6, channels)).astype(np.float32)
    made = {node.op_type for node in onnx_model(as_program(pool, (image,)), {}).graph.node}
    assert made - {"Transpose", "Reshape", "Identity"} == {"AveragePool"}
    found = only(tvm_pulp.compile(pool, example_inputs=(image,)).run([image]))
    np.testing.assert_allclose(found, jax_networks.computed(pool, (image,)), rtol=1e-6)


def test_quantized_on_the_accelerator() -> None:
    """Quantized from JAX, it differs from onnxruntime's integers by one step at most."""
    onnxruntime = pytest.importorskip("onnxruntime")
    model, inputs = jax_networks.linen_case()
    samples = np.random.default_rng(0).normal(size=(8, 16, 16, 3)).astype(np.float32)
    made = tvm_pulp.quantize(model, {"image": samples}, example_inputs=inputs)
    assert [row.name for row in made.layers] == ["stem", "deep", "head"]
    result = only(tvm_pulp.compile(made.model, "uma-neureka").run(list(inputs)))
    session = onnxruntime.InferenceSession(made.model.SerializeToString())
    (wanted,) = session.run(None, {"image": inputs[0]})
    steps = {i.name: to_array(i) for i in made.model.graph.initializer}
    (last,) = (n for n in made.model.graph.node if made.model.graph.output[0].name in n.output)
    assert np.abs(result - wanted).max() <= 1.001 * steps[last.input[1]]


def test_layers_are_the_users_and_verify_asks_xla(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, inputs = jax_networks.linen_case()
    names = [n.name for n in onnx_model(as_program(model, inputs), {}).graph.node]
    assert {"stem", "deep", "head"} <= set(names)
    table = tvm_pulp.compile(model, example_inputs=inputs, keep_layers=True).run(list(inputs), layers=True).compare()
    assert table.framework == "JAX" and table.first_wrong is None, table.sentence
    assert sum(bool(row.tensor) for row in table.rows) >= len(table.rows) / 2
    from jax import export

    plain, variables = model.unbind()
    exported = export.export(jax.jit(lambda x: plain.apply(variables, x)))(*inputs)
    (tmp_path / "net.stablehlo").write_bytes(exported.mlir_module_serialized)
    np.savez(tmp_path / "in.npz", *inputs)
    done = tvmc(capsys, "verify", "-q", tmp_path / "net.stablehlo", "-i", tmp_path / "in.npz")
    assert done.status == 0 and "from XLA" in done.out, done


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_numbers_beyond_the_range_of_integers_saturate(dtype: str) -> None:
    """As XLA does; quantizers that divide by 127.5 steps rely on it."""
    x = np.array([[-3e9, -129.5, -128.5, -0.4, 127.5, 128.0, 300.0, 3e9]], np.float32)

    def function(x: Any) -> Any:
        return x.astype(dtype) | jax.numpy.full(8, 128.5).astype(dtype)

    (made,) = tvm_pulp.compile(function, example_inputs=(x,)).run([x]).outputs.values()
    assert np.array_equal(made, jax.jit(function)(x))


FUNCTIONS = {
    "rows of a table, one by one": lambda x: jax.vmap(lambda i: TABLE[i])((10 * x[:, 0]).astype("int32") % 7),
    "rows that are taken along the second axis": lambda x: jax.vmap(lambda i: TABLE[:, i])((x[0] > 0).astype("int32")),
    "the place of the largest": lambda x: jax.numpy.argmax(x, axis=1),
    "the place of the smallest of all": lambda x: jax.numpy.argmin(x),
    "sorted": lambda x: jax.numpy.sort(x),
    "the order of sorting": lambda x: jax.numpy.argsort(x, axis=-1),
    "a sum over no axis": lambda x: jax.numpy.sum(x, axis=()) + 1,
    "a maximum that begins with a number": lambda x: jax.lax.reduce(x, np.float32(1.5), jax.lax.max, (1,)),
    "a minimum that begins with a value": lambda x: jax.lax.reduce(x, x[1, 1], jax.lax.min, (0,)),
    "windows that begin with a number": lambda x: jax.lax.reduce_window(
        x, np.float32(0.25), jax.lax.max, (1, 3), (1, 2), "SAME"
    ),
    "sums of windows that begin with a number": lambda x: jax.lax.reduce_window(
        jax.numpy.round(x), np.float32(2), jax.lax.add, (1, 2), (1, 2), "VALID"
    ),
}
TABLE = jax.numpy.arange(35.0).reshape(7, 5)


@pytest.mark.parametrize("case", FUNCTIONS)
def test_places_and_orders(case: str) -> None:
    x = np.random.default_rng(5).normal(size=(4, 6)).astype(np.float32)
    (made,) = tvm_pulp.compile(FUNCTIONS[case], example_inputs=(x,)).run([x]).outputs.values()
    expected = np.asarray(jax.jit(FUNCTIONS[case])(x))
    assert np.array_equal(made.reshape(expected.shape), expected)


def last_largest(x: Any) -> Any:
    """Of equal ones the last; JAX and TensorFlow take the first."""
    numbers = jax.lax.broadcasted_iota("int32", x.shape, 1)

    def later(a: Any, b: Any) -> Any:
        return tuple(jax.lax.select(a[0] > b[0], one, other) for one, other in zip(a, b, strict=True))

    return jax.lax.reduce((x, numbers), (np.float32(-np.inf), np.int32(0)), later, (1,))[1]


REFUSED = {
    "another choice of equal values": (last_largest, "is 'reduce' of several tensors"),
    "an order by two tensors": (lambda x: jax.lax.sort((x, x), num_keys=2)[0], "sorts several tensors"),
    "borders that are not zero": (
        lambda x: jax.lax.reduce_window(x, np.float32(2), jax.lax.add, (1, 2), (1, 1), "SAME"),
        "pads its windows with other numbers than 0: begin with 0",
    ),
    "sorting along another axis": (lambda x: jax.numpy.sort(x, axis=0), "along an axis that is not the last"),
    "a loop without an end": (
        lambda x: jax.lax.while_loop(lambda s: s.sum() < 3, lambda s: s + 1, x),
        "a loop whose end depends on values: use jax.lax.scan",
    ),
    "Python": (
        lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x),
        "Python and other code outside of the program cannot run on the device",
    ),
    "half the precision": (lambda x: x.astype("bfloat16") * 2, "convert the model's parameters and inputs to float32"),
    "an error of the user": (lambda x: x @ x, r"JAX cannot trace .* work first"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_the_construct_and_a_way_out(case: str) -> None:
    function, text = REFUSED[case]
    with pytest.raises(UserError, match=text):
        tvm_pulp.compile(function, example_inputs=(np.zeros((2, 3), np.float32),))


def test_what_is_missing_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"traced for inputs of fixed shapes: give example_inputs"):
        tvm_pulp.compile(lambda x: x)
    with pytest.raises(UserError, match=r"without parameters: give Linen\(\.\.\.\)\.bind\(variables\)"):
        tvm_pulp.compile(jax_networks.Linen(), example_inputs=(np.zeros((1, 16, 16, 3), np.float32),))


@pytest.mark.parametrize("is_transposed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_convolutions_of_integers(is_transposed: bool) -> None:
    """They are added up in 32 bits, as the result's type says."""
    random, axes = np.random.default_rng(0), ("NHWC", "HWIO", "NHWC")
    kernel = random.integers(-127, 128, (3, 3, 3, 8)).astype(np.int8)
    convolve = jax.lax.conv_transpose if is_transposed else jax.lax.conv_general_dilated

    def function(x: Any) -> Any:
        codes = jax.numpy.clip(jax.numpy.round(x), -127, 127).astype("int8")
        return convolve(codes, kernel, (1, 1), "SAME", dimension_numbers=axes, preferred_element_type="int32")

    x = random.normal(0, 60, (1, 6, 6, 3)).astype(np.float32)
    (made,) = tvm_pulp.compile(function, "uma-neureka", example_inputs=(x,)).run([x]).outputs.values()
    assert made.dtype == np.int32 and np.abs(made).max() > 1 << 15
    assert np.array_equal(made, function(x))
