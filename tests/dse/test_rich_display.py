"""What notebooks show of a study, a result and a plan."""

from pathlib import Path
from xml.etree import ElementTree

from tests.dse.needed_packages import needs
from tests.dse.small_models import write_models
from tvm_pulp.dse import Study, grid

pytestmark = needs("pandas", "a study")


def test_study_result_and_plan(tmp_path: Path) -> None:
    study = Study(write_models(tmp_path, (32,)), grid("siracusa", cores=[4, 8, 99]), ["c"], cache=tmp_path / "cache")
    assert "0 of them known" in study._repr_html_()
    study.run()
    shown = study._repr_html_()
    assert "3 of them known" in shown and "<svg" in shown and "<table" in shown
    # The failed row's sentence stands below the table.
    assert "row 2: setting of SoC siracusa: description: cluster.cores is at most 16" in shown
    app = study.app(0)
    run = app.run()
    assert repr(run).startswith("Result(c on siracusa") and f"{study.rows[0]['cycles']:,} cycles" in repr(run)  # type: ignore[index]
    assert "\n" not in repr(run) and "; outputs: " in repr(run)
    result = run._repr_html_()
    assert "<svg" in result and f"{study.rows[0]['cycles']:,} cycles" in result  # type: ignore[index]
    assert "measured" in result and "estimated" in result
    pictures = app.plan.pictures()
    assert set(pictures) == {"timeline", "l1"}  # nothing lies in L2 between layers
    for svg in pictures.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert svg in app.plan._repr_html_()
    assert repr(app.plan).startswith("<plan of ") and len(repr(app.plan)) < 200
