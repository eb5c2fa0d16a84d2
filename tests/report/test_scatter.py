"""The picture of points: every dot with its words, lines through joined ones, round figures on the axes."""

from xml.etree import ElementTree

from tvm_pulp.report.scatter import Dot, scatter
from tvm_pulp.report.svg import byte_ticks, round_ticks

SVG = "{http://www.w3.org/2000/svg}"


def test_dots_lines_and_ticks() -> None:
    dots = [Dot(1, 900, "a < b", "first & best", True), Dot(3, 100, "a < b", "", True), Dot(2, 500, "c", "alone")]
    root = ElementTree.fromstring(scatter("Title", dots, "mm2", "cycles", from_zero=True))
    circles = root.findall(f"{SVG}circle")
    assert [c.findtext(f"{SVG}title") for c in circles] == ["first & best", "", "alone"]
    assert len({c.get("fill") for c in circles}) == 2 and len(root.findall(f"{SVG}polyline")) == 1
    texts = [t.text for t in root.findall(f"{SVG}text")]
    assert {"Title", "mm2", "cycles", "a < b", "c", "0", "200", "800", "1.5", "3"} <= set(texts)
    # More is to the right, and higher up.
    x, y = ([float(c.get(axis) or "") for c in circles] for axis in ("cx", "cy"))
    assert x[0] < x[2] < x[1] and y[0] < y[2] < y[1]


def test_one_dot_and_none() -> None:
    """Nothing to scale by is no reason to fail."""
    for dots in ([Dot(5, 5)], []):
        assert ElementTree.fromstring(scatter("", dots, "x", "y")).tag == f"{SVG}svg"


def test_lines_that_coincide_are_seen_as_two() -> None:
    dots = [Dot(x, y, group, joined=True) for group in ("a", "b") for x, y in ((1, 5), (2, 3), (3, 2))]
    apart = [Dot(x, x, "c", joined=True) for x in (1, 3)]
    lines = list(ElementTree.fromstring(scatter("", [*dots, *apart], "x", "y")).iter(f"{SVG}polyline"))
    assert lines[0].get("points") == lines[1].get("points")
    assert [line.get("stroke-dasharray") is not None for line in lines] == [False, True, False]


def test_ticks_are_round() -> None:
    assert round_ticks(0, 80_608, 6) == [0, 20_000, 40_000, 60_000, 80_000]
    assert round_ticks(10.1, 10.7, 5) == [10.2, 10.4, 10.6]
    assert byte_ticks(244_736, 5) == [0, 65_536, 131_072, 196_608]
    assert byte_ticks(0, 5) == [0]
