"""Charts of studies: Altair's, of the rows, without the network."""

import sys
from typing import Any

import pytest

from tests.dse.needed_packages import needs
from tvm_pulp.dse import chart, lines
from tvm_pulp.errors import UserError

pytestmark = needs("pandas", "a chart")

ROWS = [("a", 1.0, 30.0), ("b", 2.0, 20.0), ("c", 3.0, 25.0), ("d", 4.0, None)]


def frame() -> Any:
    """Two targets with the same figures: their fronts lie on each other."""
    import pandas

    parts = [pandas.DataFrame(ROWS, columns=["soc", "area_mm2", "cycles"]).assign(target=t) for t in ("c", "uma-x")]
    return pandas.concat(parts, ignore_index=True).assign(model="net")


def test_points_fronts_and_tips() -> None:
    pytest.importorskip("altair")
    made = chart(frame())
    spec = made.to_dict()
    (values,) = list(spec["datasets"].values()) if "datasets" in spec else [spec["data"]["values"]]
    # A row without a figure is left out; b is better than c.
    assert [(v["SoC"], v["front"]) for v in values] == 2 * [("a", True), ("b", True), ("c", False)]
    line, dots = spec["layer"]
    assert line["mark"]["type"] == "line" and "strokeDash" in line["encoding"]
    assert {t["field"] for t in dots["encoding"]["tooltip"]} == {"configuration", "SoC", "cycles", "area_mm2"}
    assert dots["encoding"]["x"]["title"] == "area in mm²"
    # Jupyter's own renderer: a description that it draws, no script and no address to load one from.
    bundle = made._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert any("vegalite" in kind for kind in data) and "text/html" not in data
    # Pages without scripts show a picture that is no wider than they are: six points, two fronts, one with gaps.
    picture = data["image/svg+xml"]
    assert "max-width:100%" in picture and picture.count("<circle") == 6
    assert picture.count("<polyline") == 2 and picture.count("stroke-dasharray") == 1
    assert "cycles over area" in picture and "area in mm²" in picture


def test_lines() -> None:
    pytest.importorskip("altair")
    spec = lines({"a": [(1, 2), (3, 4)], "b": zip((1, 3), (2, 4), strict=True)}, "title", "cores", "cycles").to_dict()
    (values,) = list(spec["datasets"].values()) if "datasets" in spec else [spec["data"]["values"]]
    assert values == [{"line": name, "cores": x, "cycles": y} for name in "ab" for x, y in ((1.0, 2.0), (3.0, 4.0))]
    # Equal lines are seen as two, and every point says what it is.
    assert spec["mark"] == {"type": "line", "point": True} and spec["encoding"]["strokeDash"]["field"] == "line"
    assert {t["field"] for t in spec["encoding"]["tooltip"]} == {"line", "cores", "cycles"}


def test_without_altair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(UserError, match=r"pip install 'tvm_pulp\[notebooks\]', or draw with trade_off"):
        chart(frame())
