"""StableHLO as text: numbers, types, names and lines of a module."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.fuzz.draws import Random, edit_bytes, one
from tests.fuzz.formats.format import Format
from tests.fuzz.formats.onnx_models import compile_command

_TYPES = ("i1", "i8", "ui8", "i32", "i64", "f16", "bf16", "f32", "f64", "complex<f32>", "!quant.uniform<i8:f32, 0.1>")
_NUMBERS = ("0", "-1", "1", "2", "3", "7", "65536", "2147483648", "99999999999999999999", "?")
_OPERATORS = (
    "add",
    "multiply",
    "divide",
    "tanh",
    "reshape",
    "broadcast_in_dim",
    "dot_general",
    "reduce",
    "custom_call",
)


def seeds(folder: Path) -> Sequence[Path]:
    """Two layers and a softmax as `jax.export` writes them, and a convolution."""
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(5)
    first, second = (rng.normal(size=size).astype(np.float32) for size in ((8, 6), (6, 3)))
    window = rng.normal(size=(4, 2, 3, 3)).astype(np.float32)

    def classify(x: jax.Array) -> jax.Array:
        return jax.nn.softmax(jnp.maximum(x @ first, 0) @ second)

    def convolve(x: jax.Array) -> jax.Array:
        return jnp.tanh(jax.lax.conv(x, window, (1, 1), "SAME")).mean((2, 3))

    found = []
    for function, shape in ((classify, (2, 8)), (convolve, (1, 2, 5, 5))):
        found.append(folder / f"{function.__name__}.mlir")
        text = jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct(shape, np.float32)).mlir_module()
        found[-1].write_text(text, encoding="utf-8")
    return found


def edit(rng: Random, content: bytes) -> bytes:
    """Exchange a number, a type, a name or an operator; move, repeat or drop a line; change bytes."""
    choice = rng.random()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return edit_bytes(rng, content)
    if choice < 0.1:
        return edit_bytes(rng, content)
    if choice < 0.4:
        return _exchange(rng, text, r"(?<=[\[x<( ])\d+(?=[x>\], )])", _NUMBERS)
    if choice < 0.6:
        return _exchange(rng, text, r"(?<=x)(?:f32|i32|i1)(?=>)", _TYPES)
    if choice < 0.75:
        return _exchange(rng, text, r"%\w+", sorted(set(re.findall(r"%\w+", text))))
    if choice < 0.85:
        return _exchange(rng, text, r"(?<=stablehlo\.)\w+", _OPERATORS)
    lines = text.split("\n")
    place = int(rng.integers(len(lines)))
    if choice < 0.92:
        del lines[place]
    else:
        lines.insert(int(rng.integers(len(lines))), lines[place])
    return "\n".join(lines).encode()


def _exchange(rng: Random, text: str, pattern: str, others: Sequence[str]) -> bytes:
    found = one(rng, list(re.finditer(pattern, text)))
    if found is not None:
        text = text[: found.start()] + one(rng, others) + text[found.end() :]
    return text.encode()


FORMAT = Format("stablehlo", seeds, edit, compile_command, needs=("jax",))
