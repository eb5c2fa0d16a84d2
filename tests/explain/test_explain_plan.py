"""`tvmc explain`: what is said about caches, and about choices that look slower than what was not taken."""

import io
import re
from unittest import mock

import pytest

from tvm_pulp.compilation import Compilation
from tvm_pulp.compile_options import CompileOptions
from tvm_pulp.explain import explain_plan as explained
from tvm_pulp.explain.explain import explain
from tvm_pulp.explain.explain_plan import explain_plan, print_state
from tvm_pulp.planning.search import driver
from tvm_pulp.qnn.network import Network, Origin, State


def told(*states: State) -> str:
    stream = io.StringIO()
    print_state(Network("net", [], [], [], Origin(None, (), (), None, states=states)), stream)
    return stream.getvalue()


def test_caches_and_where_they_lie() -> None:
    assert told(State(0, 0, 4, 1, 1280, level="l1")) == "state: 1 cache, 1,280 bytes in L1\n"
    both = (State(0, 0, None, 1, 1000, 2, "l3"), State(1, 1, None, 1, 1000, 2, "l3"))
    assert told(*both) == "state: 2 caches, 2,000 bytes in L3\n"


def test_a_network_without_caches_says_nothing() -> None:
    assert told() == ""


def test_what_looks_faster_alone_is_answered() -> None:
    """Every line about something faster than the choice by itself says why it was not taken."""
    plan = Compilation("zoo:autoencoder", CompileOptions(target="uma-neureka")).plan
    stream = io.StringIO()
    explain_plan(plan, stream)
    text, answered = stream.getvalue(), 0
    for layer in plan.layers:
        offers = {(o.engine, o.form): o.cycles for o in layer.offers}
        own = offers.pop((layer.engine, layer.tiling.form.name))
        part = text.split(f"{layer.layer.name}: ")[1].split("made of")[0]
        for (engine, form), cycles in offers.items():
            if cycles is not None:
                (said,) = re.findall(rf"^    not {engine}, {re.escape(form)}: (.*)$", part, re.MULTILINE)
                looks_faster = cycles < max(layer.added_cycles, own or 0)
                assert (", but " in said) == looks_faster, said
                answered += looks_faster
    assert answered


@pytest.mark.parametrize(
    ("cycles", "added", "own", "words"),
    [
        (171, 200, 150, "takes 150 alone: the rest of its 200 is waiting"),
        (171, 50, 300, "in the plan the choice adds 50 of its 300 alone"),
        (171, 50, None, ""),
        (171, 200, 300, "the whole network is expected to be faster"),
        (300, 200, 150, ""),
    ],
)
def test_words_of_the_answer(cycles: int, added: int, own: int | None, words: str) -> None:
    said = explained._but(cycles, added, own)
    assert words in said and bool(said) == bool(words)


def test_few_searches() -> None:
    """The plan is searched once; what could be different is compared by the rules alone."""
    with mock.patch.object(driver, "find_plan", wraps=driver.find_plan) as found:
        explain("zoo:dscnn", CompileOptions(target="uma-neureka"), io.StringIO())
    efforts = [call.kwargs["effort"] for call in found.call_args_list]
    assert efforts.count("best") == 1 and 1 <= efforts.count("rough") <= 4
