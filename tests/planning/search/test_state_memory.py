"""Where caches lie: L1 where it is faster, L3 where nothing else has room, what the user wants in any case."""

from collections.abc import Callable

import pytest

import tvm_pulp
from tests.language_models.small_decoders import weights
from tvm_pulp.api import CompileOptions
from tvm_pulp.errors import UserError
from tvm_pulp.language_models.llama import Llama
from tvm_pulp.language_models.plan_entries import plan_language_model
from tvm_pulp.language_models.request import LanguageModelRequest
from tvm_pulp.planning.search.state_memory import StateRoom, place_state
from tvm_pulp.target import resolve_target

Made = tuple[str, str, int]
ROOM = StateRoom(1000, 2000, 4000)


def planner(entry: str, cycles: dict[str, int], asked: list[str]) -> Callable[[str], Made]:
    """An entry point that takes so many cycles at each level; at others it has no room."""

    def plan(level: str) -> Made:
        asked.append(f"{entry} {level}")
        if level not in cycles:
            raise UserError(f"{entry} does not fit {level}")
        return entry, level, cycles[level]

    return plan


def place(
    decode: dict[str, int], prefill: dict[str, int], room: StateRoom = ROOM, wanted: str | None = None
) -> tuple[str, list[str]]:
    asked: list[str] = []
    plans = [planner("decode", decode, asked), planner("prefill", prefill, asked)]
    made = place_state(plans, lambda entry: entry[2], room, wanted)
    levels = {level for _, level, _ in made}
    assert len(levels) == 1 and [entry for entry, _, _ in made] == ["decode", "prefill"]
    return levels.pop(), asked


def test_the_faster_of_l1_and_l2() -> None:
    every = dict.fromkeys(("l1", "l2", "l3"), 1)
    assert place({"l1": 90, "l2": 100, "l3": 10}, every)[0] == "l1"
    assert place({"l1": 110, "l2": 100, "l3": 10}, every)[0] == "l2"
    assert place({"l1": 100, "l2": 100, "l3": 10}, every)[0] == "l2"


def test_caches_that_take_more_than_half_of_l1_are_not_tried_there() -> None:
    level, asked = place({"l1": 1, "l2": 100}, {"l1": 1, "l2": 1}, StateRoom(1001, 2000, 4000))
    assert level == "l2" and "decode l1" not in asked


def test_every_entry_point_has_to_fit() -> None:
    assert place({"l1": 90, "l2": 100}, {"l2": 1})[0] == "l2"
    assert place({"l1": 90, "l2": 100, "l3": 900}, {"l3": 1})[0] == "l3"
    assert place({"l3": 900}, {"l3": 1})[0] == "l3"


def test_without_l3_the_reason_of_l2_is_told() -> None:
    with pytest.raises(UserError, match="decode does not fit l2"):
        place({}, {}, StateRoom(1000, 2000, 0))


def test_what_is_wanted_is_not_compared() -> None:
    level, asked = place({"l1": 1, "l3": 900}, {"l1": 1, "l3": 1}, wanted="l3")
    assert level == "l3" and asked == ["decode l3", "prefill l3"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"state_memory": "l4", "soc": "siracusa"}, r"--state-memory 'l4' is unknown: choose l1, l2 or l3"),
        ({"state_memory": "l1", "soc": "siracusa"}, r"--state-memory has no effect on a network without state"),
        ({"state_memory": "l1"}, r"--state-memory has no effect on --soc host"),
        ({"state_memory": "l3", "soc": "rv32-mcu"}, r"--state-memory l3: SoC rv32-mcu has no L3"),
    ],
)
def test_a_memory_that_there_is_not_is_a_users_error(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        tvm_pulp.compile("zoo:autoencoder", target="c", **options)


def test_caches_that_exceed_l1_are_a_users_error() -> None:
    request = LanguageModelRequest("small", Llama(weights("odd"), 8192, 4))
    target = resolve_target(CompileOptions(target="c", soc="siracusa", state_memory="l1"))
    with pytest.raises(UserError, match=r"--state-memory l1: the caches take 393216 bytes and L1 has \d+ for them"):
        plan_language_model(request, target, lambda _: None)
