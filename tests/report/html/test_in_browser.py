"""Pages in a real browser: what is clicked, seen at two widths and in both themes, and asked of the network."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report.html.chromium import Page, browser, executable
from tests.report.html.example_runs import example_run
from tvm_pulp.report.html import compare_page

PROGRAM = executable()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium on PATH (Debian: apt install chromium)")

BARS = "#timeline rect.bar"
COUNT = "document.querySelectorAll({!r}).length"


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    assert PROGRAM is not None
    with browser(PROGRAM) as opened:
        yield opened


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "run.html"
    example_run("dscnn", "uma-neureka").to_html(path)
    return path


@pytest.fixture(scope="module")
def compare_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "compare.html"
    runs = {
        "cores": example_run("dscnn", "c", "siracusa").report,
        "neureka": example_run("dscnn", "uma-neureka").report,
    }
    path.write_text(compare_page(runs), encoding="utf-8")
    return path


def test_a_layer_in_the_table_highlights_its_bars(page: Page, run_file: Path) -> None:
    report = example_run("dscnn", "uma-neureka").report
    layer = next(n for n, entry in enumerate(report["layers"]) if entry["engine"] == "neureka")
    page.look(1280)
    page.open(run_file)
    assert page.evaluate(COUNT.format(f"{BARS}.selected")) == 0
    page.click(f'#layer-table tr[data-layer="{layer}"]')
    marked = page.evaluate(f"[...document.querySelectorAll('{BARS}.selected')].map((b) => b.dataset.layer)")
    assert set(marked) == {str(layer)}
    # All of its bars, measured and expected, and nobody else's.
    assert len(marked) == page.evaluate(COUNT.format(f'{BARS}[data-layer="{layer}"]')) >= 3
    kinds = page.evaluate(f"[...document.querySelectorAll('{BARS}.selected')].map((b) => b.className.baseVal)")
    assert any("measured" in kind for kind in kinds) and any("expected" in kind for kind in kinds)
    faded = f"getComputedStyle(document.querySelector('{BARS}:not(.selected)')).opacity"
    assert float(page.evaluate(faded)) < 0.5
    assert report["layers"][layer]["name"] in page.evaluate("document.getElementById('causes-note').textContent")
    # Other pictures follow, and a second click lets go.
    for place in ("#memory-maps", "#graph-drawing", "#roofline-chart"):
        assert page.evaluate(COUNT.format(f'{place} .selected[data-layer="{layer}"]')) > 0, place
    page.click(f'#layer-table tr[data-layer="{layer}"]')
    assert page.evaluate(COUNT.format(f"{BARS}.selected")) == 0


def test_a_bar_chooses_its_row_and_the_timeline_zooms(page: Page, run_file: Path) -> None:
    page.look(1280)
    page.open(run_file)
    widest = (
        f"[...document.querySelectorAll('{BARS}')].sort((a, b) => b.width.baseVal.value - a.width.baseVal.value)[0]"
    )
    page.evaluate(f"{widest}.id = 'widest'")
    layer = page.evaluate("document.getElementById('widest').dataset.layer")
    page.click("#widest")
    rows = page.evaluate("[...document.querySelectorAll('#layer-table tr.selected')].map((r) => r.dataset.layer)")
    assert rows == [layer]
    wide = "Math.max(...[...document.querySelectorAll('#timeline .bar.selected')].map((b) => b.width.baseVal.value))"
    before = page.evaluate(wide)
    page.click("#time-controls button:last-child")  # to the chosen layer
    assert page.evaluate(wide) > before
    page.click("#time-controls button:nth-child(3)")  # everything again
    assert page.evaluate(wide) == pytest.approx(before, abs=0.1)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["run_file", "compare_file"])
def test_nothing_is_cut_off(page: Page, request: pytest.FixtureRequest, name: str, width: int, dark: bool) -> None:
    file = request.getfixturevalue(name)
    page.look(width, dark=dark, touch=width < 600)
    page.requests.clear()
    page.open(file)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shade = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(shade) < 64) if dark else (min(shade) > 192)
    outside = (
        "[...document.querySelectorAll('svg text')].filter((t) => { const b = t.getBBox(), s = t.ownerSVGElement; "
    )
    outside += "return b.x < -1 || b.x + b.width > s.clientWidth + 1; }).map((t) => t.textContent)"
    assert page.evaluate(outside) == []
    assert page.errors == [] and page.requests == [file.resolve().as_uri()]


def test_two_runs_side_by_side(page: Page, compare_file: Path) -> None:
    page.look(1280)
    page.open(compare_file)
    first, second = (example_run("dscnn", *how).report for how in (("c", "siracusa"), ("uma-neureka",)))
    shown = page.evaluate("document.getElementById('summary').textContent")
    assert f"{first['cycles']:,}" in shown and f"{second['cycles']:,}" in shown
    page.click('#layer-table tr[data-layer="1"]')
    assert page.evaluate(COUNT.format(".strip .selected")) >= 2
    assert page.evaluate(COUNT.format("#causes-0 .stack-row")) == len(first["causes"]) - 1
    # An engine that never works has no bar; where it does it has one.
    assert page.evaluate(COUNT.format('#causes-0 [data-engine="neureka"]')) == 0
    assert page.evaluate(COUNT.format('#causes-1 [data-engine="neureka"]')) == 1
