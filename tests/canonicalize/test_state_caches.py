"""Caches that go in and come out become rows behind them: before and after, same values, and what is left alone."""

from typing import Any

import numpy as np

from tests.canonicalize.small_modules import PULP, build, operators, scalar
from tvm_pulp.canonicalize.state_caches import state_caches
from tvm_pulp.qnn.interpret import interpret
from tvm_pulp.qnn.network import State
from tvm_pulp.qnn.operator import spec_of

HEADS, LENGTH, SIZE = 2, 5, 4
SOFTMAX = {"a": 1, "b": 40, "c": 900, "log2": 20, "levels": 256}


def attention(emit: Any, q: Any, k: Any, v: Any) -> Any:
    flags = {"has_mask": 0, "has_logit_table": 0, "has_probability": 0}
    layouts = {f"{name}_layout": "hsd" for name in "qkvy"}
    attributes = {**SOFTMAX, **flags, **layouts, **PULP.attributes(), **PULP.attributes("logit")}
    return emit("attention", [q, k, v, scalar(1), scalar(128), scalar(1), scalar(128)], attributes)


def decoder(rows: int, *, table: bool = False, other_reader: bool = False) -> Any:
    """One layer: q, new keys and values are inputs with positions first, as projections leave them."""
    new = ((1, rows, HEADS, SIZE), "int8")
    past = ((1, HEADS, LENGTH, SIZE), "int8")

    def body(emit: Any, q: Any, k: Any, v: Any, past_k: Any, past_v: Any) -> list[Any]:
        q, k, v = (emit("transpose", [x], {"axes": [0, 2, 1, 3]}) for x in (q, k, v))
        tables = [np.arange(-128, 128).astype(np.int8)[::-1].copy()] if table else []
        keys = emit("concat", [past_k, k, *tables], {"axis": 2, **({"tables": [1]} if table else {})})
        values = emit("concat", [past_v, v], {"axis": 2})
        mixed = attention(emit, q, keys, values)
        more = [emit("transpose", [keys], {"axes": [0, 1, 3, 2]})] if other_reader else []
        return [mixed, keys, values, *more]

    return build({"q": new, "k": new, "v": new, "past_k": past, "past_v": past}, body)


def run(module: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:
    return list(interpret(module, arrays))


def check(rows: int, *, table: bool) -> Any:
    """Rewritten, it gives the same mixture, and rows that make the same caches."""
    before = decoder(rows, table=table)
    after, states = state_caches(before)
    size = (LENGTH + rows) * HEADS * SIZE
    assert states == (State(3, 1, LENGTH, rows, size), State(4, 2, LENGTH, rows, size))
    rng = np.random.default_rng(rows)
    shapes = [spec_of(p).shape for p in before["main"].params]
    arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
    turned = [*arrays[:3], *(np.ascontiguousarray(a.transpose(0, 2, 1, 3)) for a in arrays[3:])]
    wanted, found = run(before, arrays), run(after, turned)
    np.testing.assert_array_equal(found[0], wanted[0])
    for state in states:
        whole = np.concatenate((turned[state.past], found[state.present]), axis=1)
        np.testing.assert_array_equal(whole.transpose(0, 2, 1, 3), wanted[state.present])
    return after


def test_one_new_row() -> None:
    check(1, table=False)


def test_many_new_rows_need_no_transposed_copy() -> None:
    after = check(3, table=False)
    # Keys and values come as projections leave them; only the query, which attention had, is turned.
    assert operators(after).count("transpose") == 1


def test_a_table_of_the_join_is_applied_to_the_rows() -> None:
    assert "lookup" in operators(check(3, table=True))


def test_a_cache_with_another_reader_stays() -> None:
    before = decoder(1, other_reader=True)
    _, states = state_caches(before)
    assert [state.present for state in states] == [2]


def test_a_module_without_cache_is_unchanged() -> None:
    before = build({"x": ((1, 4), "int8")}, lambda emit, x: [emit("lookup", [x, np.arange(256).astype(np.uint8)])])
    after, states = state_caches(before)
    assert after is before and states == ()
