"""Bars say what the reports say."""

from xml.etree import ElementTree

from tvm_pulp.report.stacked_bars import stacked_bars


def test_bars_are_as_long_as_their_cycles() -> None:
    bars = {"cluster": [("add", 300), ("conv2d", 100)], "NPU": [("conv2d", 100)]}
    root = ElementTree.fromstring(stacked_bars("n", bars))
    tag = "{http://www.w3.org/2000/svg}"
    widths = {}
    for rectangle in root.iter(f"{tag}rect"):
        title = rectangle.find(f"{tag}title")
        if title is not None:
            widths.setdefault(title.text, []).append(float(rectangle.attrib["width"]))
    assert widths == {"add: 300 cycles": [570.0], "conv2d: 100 cycles": [190.0, 190.0]}
    texts = [t.text for t in root.iter(f"{tag}text")]
    assert "400" in texts and "100" in texts


def test_small_segments_are_drawn_together() -> None:
    many = [(f"op{i}", 100 - i) for i in range(20)]
    text = stacked_bars("n", {"cluster": many})
    assert f"everything else: {sum(c for _, c in many[11:]):,} cycles" in text
