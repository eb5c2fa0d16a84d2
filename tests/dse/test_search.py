"""Search finds the front of an exhaustive study with a part of its simulations, and goes on where it was."""

from pathlib import Path

import pytest

from tests.dse.small_models import write_models
from tvm_pulp.dse import Study, grid, pareto_front
from tvm_pulp.errors import UserError

optuna = pytest.importorskip("optuna", reason="search needs Optuna: pip install 'tvm_pulp[dse]'")


def points_study(folder: Path) -> Study:
    return Study(
        write_models(folder, (64,)),
        grid("siracusa", cores=[1, 2, 4], dma=[4, 8], l1=["128k", "256k"]),
        ["c"],
        cache=folder / "cache",
    )


@pytest.mark.slow
def test_the_front_is_found_and_kept(tmp_path: Path) -> None:
    """Most points are proposed, some are simulated; a second search simulates none.

    More L1 is of no use to this network: half of the points lie behind others.
    """
    storage = f"sqlite:///{tmp_path}/search.db"
    found = points_study(tmp_path).search(minimize=["cycles", "area"], trials=12, simulations=8, storage=storage)
    assert found.points == 12 and found.estimated_points >= 9 and found.simulated_points <= 8
    assert found.minimize == ("cycles", "area_mm2") and len(found.simulated) == found.simulated_points
    again = points_study(tmp_path).search(minimize=["cycles", "area"], trials=12, simulations=8, storage=storage)
    assert set(found.front.soc) <= set(again.simulated.soc) and again.estimated_points >= found.estimated_points
    assert again.front.set_index("soc").cycles.to_dict() == found.front.set_index("soc").cycles.to_dict()
    # Against everything.
    frame = points_study(tmp_path).run()
    front = pareto_front(list(zip(frame.cycles, frame.area_mm2, strict=True)))
    assert set(frame.soc[front]) == set(found.front.soc)
    # A front: more area, fewer cycles.
    ordered = found.front.sort_values("area_mm2")
    assert ordered.cycles.is_monotonic_decreasing and len(ordered) > 1


def test_what_nothing_estimates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="nothing estimates 'energy_uj' before it is simulated: minimize some of cycles"
    ):
        points_study(tmp_path).search(minimize=["energy_uj"])
