"""The cheapest form within fewer bytes, by what is known of more."""

import pytest

from tests.planning.search.heuristics.test_tile_pipelines import first_plan
from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling
from tvm_pulp.planning.tiling.forms.engine_choice import EngineChoice, cheapest


def fewer_bytes(choice: EngineChoice, index: int, most: int, part: int) -> Tiling | None:
    """The tiling within a part of the bytes, after all of them were asked for."""
    choice.offers(index, most)
    try:
        return choice.tiling(index, most // part)
    except UserError:
        return None


@pytest.mark.parametrize("part", [2, 8, 16, 32])
def test_as_if_all_forms_were_asked(part: int) -> None:
    evaluator, _ = first_plan()
    choice, most = EngineChoice(evaluator.engine_choice.forms, {}), evaluator.l1_bytes
    for index, entry in enumerate(choice.forms):
        found = fewer_bytes(choice, index, most, part)
        try:
            wanted = cheapest(entry, most // part, None)[0]
        except UserError:
            assert found is None
            continue
        assert found is not None and (found.form, found.size) == (wanted.form, wanted.size)


def test_forms_that_cannot_win_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator, _ = first_plan()
    choice, most = EngineChoice(evaluator.engine_choice.forms, {}), evaluator.l1_bytes
    for index in range(len(choice.forms)):
        choice.offers(index, most)
    asked: list[Cuts] = []
    within = Cuts.within

    def watched(cuts: Cuts, l1_bytes: int) -> Tiling | int:
        asked.append(cuts)
        return within(cuts, l1_bytes)

    monkeypatch.setattr(Cuts, "within", watched)
    for index in range(len(choice.forms)):
        choice.tiling(index, most // 2)
    assert len(choice.forms) <= len(asked) < sum(len(entry.cuts) for entry in choice.forms) // 2
