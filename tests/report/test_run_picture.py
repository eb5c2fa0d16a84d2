"""The picture of a run, and the pictures that README opens with."""

import re
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

import tvm_pulp
from tvm_pulp.errors import UserError

SVG = "{http://www.w3.org/2000/svg}"


def test_bars_are_what_was_measured() -> None:
    app = tvm_pulp.compile("zoo:autoencoder", "uma-neureka", planner="greedy")
    result = app.run()
    text = result.to_svg()
    assert text == app.run().to_svg()
    root = ElementTree.fromstring(text)
    words = [element.text or "" for element in root.iter(f"{SVG}text")]
    for lane in (*(f"core {n}" for n in range(8)), "neureka", "loads", "stores", f"{result.report['cycles']:,} cycles"):
        assert lane in words
    jobs = [t.text or "" for t in root.iter(f"{SVG}title") if (t.text or "").startswith("neureka: ")]
    busy = sum(layer["busy_cycles"] for layer in result.report["layers"] if layer["engine"] == "neureka")
    spans = [re.fullmatch(r"neureka: \w+, cycles ([\d,]+) to ([\d,]+)", job) for job in jobs]
    assert sum(int(s[2].replace(",", "")) - int(s[1].replace(",", "")) for s in spans if s) == busy


def test_the_host_has_no_timeline() -> None:
    with pytest.raises(UserError, match="does not tell when its parts were busy"):
        tvm_pulp.compile("zoo:autoencoder").run().to_svg()


def test_readme_opens_with_pictures(repository: Path) -> None:
    names = re.findall(r"^!\[.+\]\(docs/pictures/(\w+\.svg)\)$", (repository / "README.md").read_text(), re.MULTILINE)
    drawn = runpy.run_path(str(repository / "scripts" / "readme_pictures"))["PICTURES"]
    assert names == list(drawn)
    for name in names:
        ElementTree.parse(repository / "docs" / "pictures" / name)


@pytest.mark.slow
def test_pictures_of_readme_are_of_today(repository: Path) -> None:
    """`scripts/readme_pictures` draws them anew."""
    drawn = runpy.run_path(str(repository / "scripts" / "readme_pictures"))["PICTURES"]
    for name, draw in drawn.items():
        assert draw() == (repository / "docs" / "pictures" / name).read_text(), name
