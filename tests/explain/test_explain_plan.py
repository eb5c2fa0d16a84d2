"""`tvmc explain`: what is said about caches."""

import io

from tvm_pulp.explain.explain_plan import print_state
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
