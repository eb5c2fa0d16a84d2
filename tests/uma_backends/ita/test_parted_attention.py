"""Attention of quantize/dequantize graphs: in parts it computes the same, and its products run on the engine."""

import io
from typing import Any

import numpy as np
import pytest

from tvm_pulp import soc
from tvm_pulp.entry_point import plan_for, prepare_module
from tvm_pulp.explain.explain_plan import explain_plan
from tvm_pulp.frontend.imported import Imported
from tvm_pulp.planning.lowering import build_network
from tvm_pulp.qnn import softmax_table
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.qdq_attention import QdqAttention
from tvm_pulp.uma.conformance.layer_network import target_for
from uma_backends.ita import ItaBackend
from uma_backends.ita.parted_attention import PartedAttention

from .networks import engines, module_of, run_on_ita

Arrays = dict[str, np.ndarray]


def attention(
    seed: int, heads: int, queries: int, keys: int, size: int, layout: str = "beside", table: bool = False, **more: Any
) -> tuple[Arrays, dict[str, Any], list[np.ndarray]]:
    """Inputs, attributes and constants; `layout` is how heads lie in memory."""
    random = np.random.default_rng(seed)
    a: dict[str, Any] = {"heads": heads, "queries": queries, "key_count": keys, "size": size, "group": 1, "has_mask": 0}
    inputs = {}
    for name, positions in (("q", queries), ("k", keys), ("v", keys)):
        width = 3 * heads * size + 5 if layout == "packed" else heads * size
        behind = layout == "behind"
        a |= {f"{name}_offset": 7 if layout == "packed" else 0, f"zero_point_{name}": int(random.integers(-20, 20))}
        a |= {f"{name}_head_stride": positions * size if behind else size, f"{name}_stride": size if behind else width}
        inputs[name] = random.integers(-128, 128, (1, positions, width)).astype(np.int8)
    a |= {"has_q_table": 0, "has_k_table": 0, "logit_scale": float(np.float32(0.0213579 / size**0.5))}
    a |= {"logit_low": -120, "logit_high": 135, "gain": 255.0, "probability_high": 255, "low": -133, "high": 122}
    a |= {"value_scale": float(np.float32(0.0071234)), "zero_point": 5, "dtype": "int8", "y_layout": "shd", **more}
    steps = np.arange(256)
    looked_up = np.asarray(steps // 2 if table else steps, np.uint8)[None]
    return inputs, a, [looked_up, softmax_table.exponentials(0.11, 24)]


def operators_of(module: Any) -> list[str]:
    values = [b.value for block in module["main"].body.blocks for b in block.bindings]
    return [str(v.op.name) for v in values if hasattr(v, "op")]


CASES: dict[str, dict[str, Any]] = {
    "heads side by side": {"heads": 2, "queries": 6, "keys": 9, "size": 8},
    "heads one behind the other": {"heads": 3, "queries": 5, "keys": 5, "size": 4, "layout": "behind"},
    "one head": {"heads": 1, "queries": 6, "keys": 4, "size": 8},
    "queries, keys and values in one row": {"heads": 2, "queries": 5, "keys": 7, "size": 4, "layout": "packed"},
    "scaled by a table": {"heads": 2, "queries": 5, "keys": 7, "size": 4, "table": True},
    "seven bits of probability": {"heads": 2, "queries": 5, "keys": 7, "size": 4, "probability_high": 127},
    "ties of single precision": {
        "heads": 2,
        "queries": 5,
        "keys": 7,
        "size": 4,
        "logit_scale": float(np.float32(0.0078)),
        "value_scale": float(np.float32(0.0071)),
    },
    "heads first in the result": {"heads": 2, "queries": 5, "keys": 7, "size": 4, "y_layout": "hsd"},
}


@pytest.mark.parametrize("name", CASES)
def test_parts_compute_the_same(name: str) -> None:
    inputs, attributes, constants = attention(3, **CASES[name])
    module = module_of(inputs, lambda emit, given: emit("qdq_attention", [*given, *constants], attributes))
    parted = PartedAttention().run(module)
    operators = operators_of(parted)
    assert "tvm_pulp.qnn.qdq_attention" not in operators and operators.count("tvm_pulp.qnn.matmul") == 2
    (result,) = interpret(parted, list(inputs.values()))
    np.testing.assert_array_equal(
        result, QdqAttention().reference(QdqAttention().stated(attributes), [*inputs.values(), *constants])
    )
    assert len(np.unique(result)) > 20


def test_unsigned_operands() -> None:
    inputs, attributes, constants = attention(4, 2, 6, 9, 8)
    inputs = {n: (x.astype(np.int16) + 128).astype(np.uint8) for n, x in inputs.items()}
    attributes |= {f"zero_point_{n}": attributes[f"zero_point_{n}"] + 128 for n in inputs}
    module = module_of(inputs, lambda emit, given: emit("qdq_attention", [*given, *constants], attributes))
    (result,) = interpret(PartedAttention().run(module), list(inputs.values()))
    np.testing.assert_array_equal(
        result, QdqAttention().reference(QdqAttention().stated(attributes), [*inputs.values(), *constants])
    )


def test_more_keys_than_sums_have_room_for_stay_one_operator() -> None:
    inputs, attributes, constants = attention(5, 1, 4, 500, 8)
    module = module_of(inputs, lambda emit, given: emit("qdq_attention", [*given, *constants], attributes))
    assert "tvm_pulp.qnn.qdq_attention" in operators_of(PartedAttention().run(module))


def test_products_run_on_the_engine() -> None:
    inputs, attributes, constants = attention(6, 2, 30, 30, 16)
    run = run_on_ita(inputs, lambda emit, given: emit("qdq_attention", [*given, *constants], attributes))
    expected = QdqAttention().reference(QdqAttention().stated(attributes), [*inputs.values(), *constants])
    np.testing.assert_array_equal(run.outputs[0], expected)
    assert engines(run)["matmul"] == "ita" and engines(run)["softmax"] == "cluster"


@pytest.mark.parametrize(
    ("keys", "table", "scale", "engine"),
    [
        (30, False, 0.0053, "ita"),
        (30, True, 0.0054, "ita"),
        (30, False, 0.0078, "ita"),
        (500, False, 0.0053, "cluster"),
    ],
)
def test_why_the_softmax_is_not_there(keys: int, table: bool, scale: float, engine: str) -> None:
    inputs, attributes, constants = attention(7, 2, 8, keys, 16, table=table, logit_scale=float(np.float32(scale)))
    backend = ItaBackend()
    target = target_for(soc.load(backend.default_soc), backend)
    module = prepare_module(
        module_of(inputs, lambda emit, given: emit("qdq_attention", [*given, *constants], attributes)), target
    )
    network = build_network(module, Imported(module, tuple(inputs), ("y",), "qdq"), "network")
    stream = io.StringIO()
    explain_plan(plan_for(target, network).plan, stream)
    assert "its softmax rounds floats as ONNX does, the engine's halves with every step" in stream.getvalue()
    assert ("-> ita, product, digit by digit" in stream.getvalue()) == (engine == "ita")
