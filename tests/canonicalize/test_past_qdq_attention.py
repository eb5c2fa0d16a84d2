"""Attention over a joined cache becomes attention over rows with a length; with other readers it stays as it is."""

from typing import Any

import numpy as np
import onnx
import pytest
from tvm import relax

from tests.language_models.exported_decoders import STYLES, exported
from tvm_pulp.canonicalize.past_qdq_attention import _is_uniform, past_qdq_attention
from tvm_pulp.canonicalize.pipeline import canonicalize
from tvm_pulp.frontend import onnx_file
from tvm_pulp.frontend.imported import ImportOptions
from tvm_pulp.frontend.load import import_onnx_graph
from tvm_pulp.language_models.entry_module import Purpose
from tvm_pulp.language_models.exported import decoder_graph, find_roles
from tvm_pulp.qnn.operator import PREFIX

CAPACITY = 12


def canonical(content: bytes, rows: int) -> tuple[Any, set[str]]:
    graph = onnx_file.from_model(onnx.load_model_from_string(content))
    roles = find_roles(graph.model)
    assert roles is not None
    made = decoder_graph(graph, roles, CAPACITY, rows, hide=False)
    module = canonicalize(import_onnx_graph(onnx_file.from_model(made.model), ImportOptions()))
    names = [p.name for p in module["main"].params]
    return module, {n for n, s in zip(names, made.sources, strict=True) if s.purpose is Purpose.PAST}


def operators(module: Any) -> list[str]:
    bindings = [b.value for block in module["main"].body.blocks for b in block.bindings]
    return [v.op.name.removeprefix(PREFIX) for v in bindings if hasattr(getattr(v, "op", None), "name")]


@pytest.mark.sample(4)
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("name", [name for name, style in STYLES.items() if not (style.window or style.encoded)])
def test_nothing_is_joined_or_turned_any_more(name: str, rows: int) -> None:
    module, pasts = canonical(exported(name, "static"), rows)
    assert operators(module).count("concat") == 2 * STYLES[name].layers
    found = past_qdq_attention(module, pasts)
    assert found is not None
    made = operators(found)
    assert made.count("past_qdq_attention") == STYLES[name].layers
    assert not {"qdq_attention", "concat"} & set(made)
    # New rows that are part of wider ones are taken out.
    assert STYLES[name].fused or "transpose" not in made
    assert found["main"].params[-1].name == "length"


@pytest.mark.parametrize("how", ["float", "dynamic"])
def test_attention_that_is_not_one_operator_stays(how: str) -> None:
    assert past_qdq_attention(*canonical(exported("llama", how), 1)) is None


def test_a_sliding_window_hides_some_of_the_past() -> None:
    """The operator takes all of the past or none: with a window, products and a sum with a table stay."""
    module, pasts = canonical(exported("window", "static"), 1)
    assert {"matmul", "add", "softmax"} <= set(operators(module))
    assert past_qdq_attention(module, pasts) is None


def test_a_mask_must_treat_the_past_alike() -> None:
    assert _is_uniform(None, 3)
    assert _is_uniform(relax.const(np.array([[[1, 1, 1, 0]]], np.uint8)), 3)
    assert not _is_uniform(relax.const(np.array([[[1, 0, 1, 0]]], np.uint8)), 3)
