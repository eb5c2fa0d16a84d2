"""Studies and searches as notebooks show them: tables, and cycles over area."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from tvm_pulp.dse.pareto import pareto_front
from tvm_pulp.report.rich_display import picture_html, table_html
from tvm_pulp.report.scatter import Dot, scatter

# Columns that tables leave out: they are in the frame.
_HIDDEN = ("soc", "area_source", "outputs", "build_s", "error")
# Columns as pictures call them.
NAMES = {"area_mm2": "area in mm²", "energy_uj": "energy in µJ"}


def points(frame: Any, across: str, upwards: str) -> Iterator[tuple[str, str, str, float, float, bool]]:
    """Model, target and SoC of every row that knows both figures, these, and if its model's front has it."""
    known = frame[frame[across].notna() & frame[upwards].notna()]
    for (model, target), rows in known.groupby(["model", "target"], sort=False):
        places = [(float(x), float(y)) for x, y in zip(rows[across], rows[upwards], strict=True)]
        front = set(pareto_front(places))
        for number, ((x, y), soc) in enumerate(zip(places, rows.soc, strict=True)):
            yield model, target, str(soc), x, y, number in front


def trade_off(frame: Any, across: str = "area_mm2", upwards: str = "cycles") -> str:
    """An SVG of two figures of all rows, a colour for each model and target; a line through each one's Pareto front."""
    dots = []
    for model, target, soc, x, y, on_front in points(frame, across, upwards):
        tip = f"{model} on {soc}, {target}: {upwards} {y:,.10g}, {across} {x:,.10g}"
        dots.append(Dot(x, y, f"{model}, {target}", tip, on_front))
    named = {name: NAMES.get(name, name) for name in (across, upwards)}
    return scatter(f"{named[upwards]} over {named[across]}", dots, named[across], named[upwards])


def frame_html(frame: Any) -> str:
    """The columns that tell something, and below them why rows failed."""
    shown = [name for name in frame.columns if name not in _HIDDEN and frame[name].notna().any()]
    known = frame[shown].notna()
    rows = [
        [str(index), *(_text(row[name]) if known.loc[index, name] else "-" for name in shown)]
        for index, row in frame[shown].iterrows()
    ]
    failed = frame[frame.error.notna()]
    errors = "".join(f"<li>row {index}: {escape(str(text))}</li>" for index, text in failed.error.items())
    return table_html(["", *shown], rows) + (f"<p>failed:</p><ul>{errors}</ul>" if errors else "")


def _text(value: Any) -> str:
    """Whole numbers with separators, others with four figures."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def study_html(rows: Sequence[Any], frame: Any) -> str:
    """How far a study is, its table, and a picture where areas are known."""
    parts = [f"<p><b>Study</b> of {len(rows)} configurations, {len(frame)} of them known</p>"]
    if len(frame):
        if frame[frame.cycles.notna()].area_mm2.nunique() > 1:
            parts.append(picture_html(trade_off(frame)))
        parts.append(frame_html(frame))
    return "".join(parts)
