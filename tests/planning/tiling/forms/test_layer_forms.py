"""The cheapest form within fewer bytes, by what is known of more."""

from dataclasses import replace

import pytest

from tests.planning.search.moves.test_tile_pipelines import first_plan
from tvm_pulp.errors import UserError
from tvm_pulp.planning.tiling.forms.cuts import Cuts, Tiling
from tvm_pulp.planning.tiling.forms.layer_forms import LayerForms, cheapest


def asked_for_all() -> tuple[list[LayerForms], int]:
    """Forms of which nothing is known but for all of L1, and these bytes."""
    problem, plan = first_plan()
    fresh: dict[str, dict[object, object]] = {"_cheapest": {}, "_tilings": {}, "_by_cycles": {}}
    layers = [replace(entry, **{name: dict(known) for name, known in fresh.items()}) for entry in plan.decisions.layers]
    for entry in layers:
        entry.offers(problem.l1_bytes)
    return layers, problem.l1_bytes


@pytest.mark.parametrize("part", [2, 8, 16, 32])
def test_as_if_all_forms_were_asked(part: int) -> None:
    layers, most = asked_for_all()
    for entry in layers:
        try:
            wanted = cheapest(entry, most // part, "")[0]
        except UserError:
            assert not entry.fits(most // part)
            continue
        found = entry.tiling(most // part)
        assert (found.form, found.size) == (wanted.form, wanted.size)


def test_forms_that_cannot_win_are_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    layers, most = asked_for_all()
    asked: list[Cuts] = []
    within = Cuts.within

    def watched(cuts: Cuts, l1_bytes: int) -> Tiling | int:
        asked.append(cuts)
        return within(cuts, l1_bytes)

    monkeypatch.setattr(Cuts, "within", watched)
    for entry in layers:
        entry.tiling(most // 2)
    assert len(layers) <= len(asked) < sum(len(entry.cuts) for entry in layers) // 2
