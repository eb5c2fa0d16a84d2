"""`insert_barriers`: waits and barriers where, and only where, somebody needs them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tvm import tirx

from tvm_pulp.tir.insert_barriers import insert_barriers
from tvm_pulp.tir.tiled_main import call

# Statements in short: what stands for each in the words of the tests.
SHORT = {
    "load": "dma_load",
    "store": "dma_store",
    "submit": "submit",
    "kernel": "kernel",
    "call": "call",
    "layer": "layer",
}


def function_of(words: list[str]) -> Any:
    return tirx.PrimFunc([], tirx.SeqStmt([tirx.Evaluate(call(SHORT[word], 0)) for word in words]))


def words_of(body: Any) -> list[Any]:
    """The statements back in words; what core 0 does alone is a list."""
    result: list[Any] = []
    names = {long: short for short, long in SHORT.items()} | {
        "dma_begin": "begin",
        "dma_wait": "wait",
        "wait_jobs": "finish",
    }
    for statement in body.seq if type(body).__name__ == "SeqStmt" else [body]:
        if type(statement).__name__ == "IfThenElse":
            result.append(words_of(statement.then_case))
        else:
            name = str(statement.value.args[0].value)
            result.append(names.get(name, name))
    return result


def after(words: list[str]) -> list[Any]:
    """Words in, words out; a main begins and ends with the mark of a layer."""
    first, *inner, last = words_of(insert_barriers(function_of(["layer", *words, "layer"])).body)
    assert first == last == "layer"
    return inner


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        # The picture of the pass's docstring: data is there before the cores read it, and complete before it is stored.
        (
            ["load", "kernel", "store"],
            [["begin", "load", "wait"], "barrier", "kernel", "barrier", ["begin", "store", "wait"]],
        ),
        # Loads travel together, with one wait.
        (["load", "load", "call"], [["begin", "load", "load", "wait"], "barrier", "call", "barrier"]),
        # A job starts when its operands are there, and its result is stored when it is done; the cores are not asked.
        (
            ["load", "submit", "store"],
            [["begin", "load", "wait", "submit", "finish", "begin", "store", "wait"]],
        ),
        # The cores read what the job wrote.
        (["submit", "kernel", "layer"], [["submit", "finish"], "barrier", "kernel", "barrier", "layer"]),
        # One kernel's result is another's operand.
        (["kernel", "kernel"], ["kernel", "barrier", "kernel", "barrier"]),
        # The next tile's loads overwrite what the kernel reads.
        (
            ["load", "kernel", "store", "load", "kernel"],
            [["begin", "load", "wait"], "barrier", "kernel", "barrier", ["begin", "store", "load", "wait"], "barrier",
             "kernel", "barrier"],
        ),
    ],
)  # fmt: skip
def test_before_and_after(before: list[str], expected: list[Any]) -> None:
    assert after(before) == expected


@given(st.lists(st.sampled_from(sorted(SHORT)), min_size=1, max_size=25))
def test_nothing_overlaps_that_must_not(before: list[str]) -> None:
    """Walk through the result and remember what may still be under way."""
    result = after(before)
    flat = [word for item in result for word in (item if isinstance(item, list) else [item])]
    assert [word for word in flat if word in SHORT] == before  # nothing is lost or reordered
    cores_busy = unknown_to_cores = False
    for item in result:
        if isinstance(item, list):
            assert not cores_busy, "core 0 moves data that the cores may still use"
            moving = running = False
            for word in item:
                if word == "submit":
                    assert not moving, "a job starts before its operands are there"
                    running = True
                elif word == "finish":
                    running = False
                elif word in ("load", "store"):
                    assert moving and not running, "a transfer meets a running job"
                moving = {"begin": True, "wait": False}.get(word, moving)
            assert not moving and not running, "core 0 goes on before everything is complete"
            unknown_to_cores = True
        elif item == "barrier":
            cores_busy = unknown_to_cores = False
        elif item in ("kernel", "call"):
            assert not cores_busy and not unknown_to_cores, "cores read what may be incomplete"
            cores_busy = True
    assert not cores_busy, "the last kernel is not waited for"


@given(st.lists(st.sampled_from(sorted(SHORT)), min_size=1, max_size=25))
def test_no_barrier_is_needless(before: list[str]) -> None:
    """Between two barriers there is always a kernel or a section of core 0."""
    result = after(before)
    for first, second in pairwise(result):
        assert not (first == "barrier" and second == "barrier")
    assert result.count("barrier") <= 2 * sum(word in ("kernel", "call") for word in before)
