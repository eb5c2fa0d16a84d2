"""Decoders beside an encoder: refused as what they are with open lengths, a network like any other with fixed ones."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import tvm_pulp
from tests.real_models.attention import written_out
from tests.real_models.exported_graph import ExportedGraph
from tvm_pulp.errors import UserError

WIDTH, HEADS, EACH, WORDS = 32, 2, 16, 40
PAST, ENCODED = 6, 7
SHAPES = {
    "input_ids": [1, 1],
    **{f"past_key_values.0.decoder.{kind}": [1, HEADS, PAST, EACH] for kind in ("key", "value")},
    **{f"past_key_values.0.encoder.{kind}": [1, HEADS, ENCODED, EACH] for kind in ("key", "value")},
}


def _heads(g: ExportedGraph, x: str) -> str:
    made = g.node("Reshape", g.linear(x, WIDTH, WIDTH, bias=False), g.integers(1, -1, HEADS, EACH))
    return g.transpose(made, 0, 2, 1, 3)


def _added(g: ExportedGraph, x: str, q: str, keys: str, values: str) -> str:
    mixed = g.transpose(written_out(g, q, keys, values, EACH), 0, 2, 1, 3)
    return str(g.node("Add", x, g.linear(g.node("Reshape", mixed, g.integers(1, -1, WIDTH)), WIDTH, WIDTH, False)))


def decoder() -> Any:
    """A layer like T5's: attention to tokens so far, then to what an encoder made, whose keys and values go in."""
    g = ExportedGraph("t5")
    sizes: list[Any] = ["sequence", "past", "encoded"]
    ids = g.input("input_ids", [1, sizes[0]], TensorProto.INT64)
    past, encoded = (
        [g.input(f"past_key_values.0.{part}.{kind}", [1, HEADS, size, EACH]) for kind in ("key", "value")]
        for part, size in (("decoder", sizes[1]), ("encoder", sizes[2]))
    )
    x = str(g.node("Gather", g.parameter(g.normal(WORDS, WIDTH)), ids, axis=0))
    normal = g.layer_norm(x, WIDTH)
    q, new = _heads(g, normal), [_heads(g, normal) for _ in range(2)]
    present = [g.node("Concat", old, rows, axis=2) for old, rows in zip(past, new, strict=True)]
    x = _added(g, x, q, *present)
    x = _added(g, x, _heads(g, g.layer_norm(x, WIDTH)), *encoded)
    g.output(g.linear(g.layer_norm(x, WIDTH), WIDTH, WORDS, bias=False), [1, sizes[0], WORDS])
    for value in present:
        total: Any = "total"
        g.output(value, [1, HEADS, total, EACH])
    return g.model()


def test_open_lengths_are_refused() -> None:
    wanted = (
        r"input 'past_key_values.0.encoder.key' .* never joined .* encoder: .* fix every length with --input-shapes"
    )
    with pytest.raises(UserError, match=wanted):
        tvm_pulp.compile(decoder(), target="c")


@pytest.mark.slow
def test_fixed_lengths_are_a_network() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    rng, model = np.random.default_rng(0), decoder()
    feeds = {n: rng.normal(size=s).astype(np.float32) for n, s in SHAPES.items() if n != "input_ids"}
    feeds["input_ids"] = np.array([[3]])
    wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
    found = tvm_pulp.compile(model, target="uma-neureka", input_shapes=SHAPES).run(feeds).outputs.values()
    for made, value in zip(found, wanted, strict=True):
        np.testing.assert_allclose(made, value, rtol=1e-4, atol=1e-5)
