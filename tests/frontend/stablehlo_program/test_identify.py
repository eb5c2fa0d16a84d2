"""A function is taken for a known one only where it is that one everywhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvm_pulp

jax = pytest.importorskip("jax", reason="JAX: scripts/test --jax installs it")

from jax import numpy as jnp  # noqa: E402  (needs jax)

from tvm_pulp.frontend.frameworks import as_program, load_program  # noqa: E402

pytestmark = pytest.mark.jax
Function = Callable[[Any], Any]


def norm(x: Any) -> Any:
    apart = x - x.mean(-1, keepdims=True)
    return apart / jnp.sqrt((apart**2).mean(-1, keepdims=True) + 1e-5)


def operators(function: Function) -> set[str]:
    program = as_program(function, (np.zeros((4, 8), np.float32),))
    return {n.op_type for n in program.onnx_model({}).graph.node}


KNOWN: dict[str, tuple[Function, str]] = {
    "gelu": (lambda x: jax.nn.gelu(x, approximate=False), "Gelu"),
    "gelu by tanh": (jax.nn.gelu, "Gelu"),
    "silu": (jax.nn.silu, "Sigmoid"),
    "hard swish": (jax.nn.hard_swish, "HardSwish"),
    "hard sigmoid": (jax.nn.hard_sigmoid, "HardSigmoid"),
    "relu6": (jax.nn.relu6, "Clip"),
    "softplus": (jax.nn.softplus, "Softplus"),
    "mish": (jax.nn.mish, "Mish"),
    "softsign": (jax.nn.soft_sign, "Softsign"),
    "selu": (jax.nn.selu, "Selu"),
    "elu": (lambda x: jax.nn.elu(x, 0.7), "Elu"),
    "leaky relu": (lambda x: jax.nn.leaky_relu(x, 0.2), "LeakyRelu"),
    "softplus with a threshold": (lambda x: jnp.where(x > 20, x, jnp.log1p(jnp.exp(jnp.minimum(x, 20)))), "Softplus"),
    "layer norm": (norm, "LayerNormalization"),
}
# Each with numbers at which it is something else.
NEARLY: dict[str, tuple[Function, str, float]] = {
    "one thousandth in between": (lambda x: jnp.where((x > 3.001) & (x < 3.002), 0, jax.nn.silu(x)), "Sigmoid", 3.0015),
    "a window of twice the number": (
        lambda x: jnp.where(jnp.abs(2 * x - 6.003) < 1e-4, 0, jax.nn.gelu(x, approximate=False)),
        "Gelu",
        3.0015,
    ),
    "a window of a square": (
        lambda x: jnp.where(jnp.abs(x * x - 9.009) < 1e-4, 0, jax.nn.hard_swish(x)),
        "HardSwish",
        9.009**0.5,
    ),
    "a limit of a square": (lambda x: jnp.where(x * x < 60000.0, jax.nn.hard_swish(x), 0), "HardSwish", 250.0),
    "a peak behind a square": (lambda x: jnp.where(-x * x < -6e4, x + 1, jax.nn.silu(x)), "Sigmoid", 250.0),
    "a narrow peak": (lambda x: jax.nn.softplus(x) + jnp.exp(-jnp.square((x - 3.0015) * 1e4)), "Softplus", 3.0015),
    "one number": (lambda x: jnp.where(x == 2.34567, 1, jax.nn.mish(x)), "Mish", 2.34567),
    "a last value": (lambda x: jnp.minimum(jax.nn.leaky_relu(x, 0.2), 5000.5), "LeakyRelu", 6000.0),
    "another slope behind": (lambda x: jax.nn.selu(x) + jax.nn.relu(x - 77777.0), "Selu", 1e5),
    "rounded": (lambda x: jax.nn.soft_sign(x) + 1e-9 * jnp.floor(x * 1e4), "Softsign", 1.0),
    "a little more": (lambda x: x + 1e-7, "LeakyRelu", 0.0),
    "a norm that is cut": (lambda x: jnp.clip(norm(x), -2.6, 2.6), "", 0.0),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_functions(name: str) -> None:
    function, operator = KNOWN[name]
    assert operator in operators(function) and not operators(function) & {"Where", "Exp", "Log", "Erf"}


def test_gelu_of_an_exported_file(tmp_path: Path) -> None:
    """Its erfc is polynomials, the last of which is cut where the square of a number is large."""
    x = jax.ShapeDtypeStruct((4, 8), jnp.float32)
    exported = jax.export.export(jax.jit(KNOWN["gelu"][0]))(x)
    (tmp_path / "gelu.stablehlo").write_bytes(exported.mlir_module_serialized)
    program = load_program(tmp_path / "gelu.stablehlo", "stablehlo")
    assert {n.op_type for n in program.onnx_model({}).graph.node} - {"Identity"} == {"Gelu"}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NEARLY)
def test_nearly_known_functions_keep_their_values(name: str) -> None:
    function, operator, number = NEARLY[name]
    found = operators(function)
    assert operator not in found or found & {"Where", "Exp", "Min", "Relu", "Floor"}
    x = np.array([[number, -1, 0.5, 2, -3, 30, number, 1]] * 4, np.float32)
    (made,) = tvm_pulp.compile(function, example_inputs=(x,)).run([x]).outputs.values()
    assert np.allclose(made, function(x), rtol=1e-5, atol=1e-5) and np.all((made == 0) == (function(x) == 0))


def as_onnx(function: Function, x: np.ndarray) -> np.ndarray:
    """What the translated program says, node by node."""
    runtime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    settings = runtime.SessionOptions()
    settings.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = as_program(function, (np.zeros_like(x),)).onnx_model({})
    session = runtime.InferenceSession(model.SerializeToString(), settings)
    return np.asarray(session.run(None, {session.get_inputs()[0].name: x})[0])


@pytest.mark.parametrize("name", [n for n in KNOWN if n != "layer norm"])
def test_known_functions_at_all_magnitudes(name: str) -> None:
    """From the smallest numbers to 1e30, both signs, and densely where functions bend."""
    sizes = np.geomspace(1e-30, 1e30, 4000)
    x = np.concatenate([sizes, -sizes, np.linspace(-12, 12, 24_000)]).astype(np.float32).reshape(-1, 8)
    wanted = np.asarray(KNOWN[name][0](x))
    assert np.all(np.abs(as_onnx(KNOWN[name][0], x) - wanted) <= 2e-6 * np.maximum(1, np.abs(wanted)))


def with_a_fault(seed: int) -> tuple[str, Function, np.ndarray]:
    """A known function that is another one in a window of random place and width; numbers in and around it."""
    random = np.random.default_rng(seed)
    name = str(random.choice([n for n in KNOWN if n != "layer norm"]))
    known, place = KNOWN[name][0], random.uniform(-20, 20) * 10.0 ** random.integers(-1, 3)
    width, factor = abs(place) * 10.0 ** random.uniform(-4, 0), random.uniform(0.1, 10)
    jump = float(random.uniform(0.5, 2))
    kinds: list[Function] = [
        lambda x: jnp.where(jnp.abs(x - place) < width, known(x) + jump, known(x)),
        lambda x: jnp.where(jnp.abs(factor * x - factor * place) < factor * width, known(x) - jump, known(x)),
        lambda x: jnp.where((x * x > place * place) & (x > 0), known(x) + jump, known(x)),
        lambda x: known(x) + jump * jnp.exp(-jnp.square((x - place) / width)),
        lambda x: known(x) + jnp.maximum(x - place, 0) * jump,
        lambda x: jnp.where(x == np.float32(place), jump, known(x)),
    ]
    near = np.float32(place) + np.float32(width) * np.linspace(-3, 3, 57)
    numbers = np.concatenate([near, [place, -place, 2 * place, 0, 1, -1, 400]]).astype(np.float32)
    return name, kinds[int(random.integers(len(kinds)))], numbers.reshape(-1, 8)


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", range(120))
def test_random_faults_are_kept(seed: int) -> None:
    name, function, x = with_a_fault(seed)
    wanted = np.asarray(jax.jit(function)(x))
    found = as_onnx(function, x)
    assert np.all(np.abs(found - wanted) <= 1e-4 * np.maximum(1, np.abs(wanted))), (name, operators(function))
