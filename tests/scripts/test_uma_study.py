"""The study of QVanilla: what is made of measurements, and that the page's figures are what they should be."""

import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
RESULTS = REPOSITORY / "docs" / "uma_study" / "results.csv"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "scripts"))


def layer(name: str, cycles: int, engine: str = "cluster", macs: int = 0) -> dict[str, Any]:
    return {"name": name, "cycles": cycles, "engine": engine, "macs": macs}


def measured(instructions: int, layers: list[dict[str, Any]], cycles: int = 0) -> Any:
    from uma_study.measured import Measured

    return Measured(instructions, cycles or instructions, 1.0, True, layers)


def test_requantization_cannot_be_saved() -> None:
    from uma_study.measured import possible_saving, saving

    alone = measured(1100, [layer("a", 600, macs=9), layer("b", 400, macs=1), layer("c", 100)])
    parts = [layer("lv", 20), layer("a_sums", 5, "qvanilla", 9), layer("a_bytes", 80), layer("a", 20)]
    accelerated = measured(625, [*parts, layer("b", 400, macs=1), layer("c", 100)])
    assert possible_saving(alone, accelerated) == 600 - 80
    assert saving(alone, accelerated) == 475
    assert accelerated.macs_on("qvanilla") / accelerated.macs == 0.9


def test_a_layer_that_the_cpu_does_not_have_is_an_error() -> None:
    from uma_study.measured import possible_saving

    with pytest.raises(ValueError, match=r"\['a'\] are not in the network"):
        possible_saving(measured(1, [layer("b", 1)]), measured(1, [layer("a_sums", 1, "qvanilla")]))


def test_where_lines_cross() -> None:
    from uma_study.page import crossing

    assert crossing([1, 2, 4], [10, 20, 30, 50], 40) == pytest.approx(3)
    assert crossing([1, 2, 4], [10, 20, 30, 50], 60) is None


def test_the_picture_is_one() -> None:
    from uma_study.plot import run_time_plot

    text = run_time_plot([0, 1, 4], {"kws": [44.6, 65.0, 126.4]}, {"kws": 105.7}, "Run time")
    tags = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(text).iter()]
    assert tags.count("polyline") == 1 and tags.count("circle") == 3


def test_only_the_marked_place_of_a_page_changes(tmp_path: Path) -> None:
    from uma_study.page import BEGIN, END, write_between_marks

    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nbehind\n")
    write_between_marks(page, ["new"])
    assert page.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nbehind\n"
    page.write_text("nothing")
    with pytest.raises(ValueError, match="0 places"):
        write_between_marks(page, ["new"])


@pytest.mark.parametrize(("network", "share"), [("resnet", 0.790), ("vww", 0.827), ("kws", 0.771)])
def test_the_figures_of_the_page(network: str, share: float) -> None:
    """Less than was published, with and without the accelerator, and the same share of products offloaded."""
    from uma_study.configurations import CPU, NETWORKS, QVANILLA

    if not RESULTS.is_file():
        pytest.skip("docs/uma_study/results.csv is not there: run scripts/study_uma")
    with RESULTS.open(newline="", encoding="utf-8") as stream:
        rows = {(row["Model"], row["Machine"]): row for row in csv.DictReader(stream)}
    alone, accelerated, known = rows[network, CPU.name], rows[network, QVANILLA.name], NETWORKS[network]
    assert {row["Validation"] for row in rows.values()} == {"True"}
    assert int(alone["Total Instructions"]) < known.instructions
    assert int(accelerated["Total Instructions"]) <= (1 - known.saved / 100) * known.instructions
    assert int(accelerated["Offloaded MACs"]) / int(accelerated["Total MACs"]) == pytest.approx(share, abs=5e-4)
