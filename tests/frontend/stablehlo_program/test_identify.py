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
