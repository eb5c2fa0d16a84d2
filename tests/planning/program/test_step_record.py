"""Room for step records: enough for what is emitted, and no more than agents and groups may add."""

from collections import Counter
from typing import Any

import pytest

from tvm_pulp import Compilation, CompileOptions
from tvm_pulp.codegen import cluster_source
from tvm_pulp.codegen.step_table import StepTable
from tvm_pulp.planning.program.step_record import (
    AGENTS,
    COMMAND_WORDS,
    END_WORDS,
    GROUP_WORDS,
    LINES_WORDS,
    RECORD_WORDS,
    SUBMIT_WORDS,
    most_record_words,
    transfer_words,
)


def test_an_empty_record_has_its_words_only() -> None:
    assert most_record_words((), jobs=0, fetches=0) == RECORD_WORDS


def test_every_move_may_be_a_group_of_an_agent_of_its_own() -> None:
    moves = [transfer_words(lines=False), transfer_words(lines=True)]
    own = RECORD_WORDS + COMMAND_WORDS + LINES_WORDS + 2 * (GROUP_WORDS + END_WORDS)
    assert most_record_words(moves, jobs=0, fetches=0) == own
    assert most_record_words(moves, jobs=1, fetches=0) == own + SUBMIT_WORDS + END_WORDS
    # There are so many agents.
    many = most_record_words([0] * 10, jobs=0, fetches=0)
    assert many == RECORD_WORDS + AGENTS * END_WORDS + 10 * GROUP_WORDS


@pytest.mark.parametrize("target", ["c", "uma-neureka"])
def test_records_fit_their_room(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of all records of a page, as they are emitted, beside the bytes that its bundle has for them."""
    tables: list[StepTable] = []

    def remembered(*parts: Any) -> StepTable:
        tables.append(StepTable(*parts))
        return tables[-1]

    monkeypatch.setattr(cluster_source, "StepTable", remembered)
    options = CompileOptions(target=target, soc="siracusa", planner="greedy")
    assert Compilation("zoo:dscnn", options).files
    taken: Counter[str] = Counter()
    room = {}
    for record in tables[-1].records:
        words = RECORD_WORDS + sum(END_WORDS + sum(c.words for c in commands) for _, _, commands in record.lists())
        taken[record.page.name] += 4 * words
        room[record.page.name] = record.page.record_bytes
    assert taken and all(taken[name] <= room[name] for name in taken)
    assert sum(room.values()) <= 1.5 * taken.total()
