"""Figures of a study as an interactive chart of Altair: Jupyter draws it by itself, without the network.

Where nobody draws it, as in a notebook that was saved as HTML, there is a picture of the same points.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tvm_pulp.dse.rich_display import NAMES, points
from tvm_pulp.plug_ins import needed
from tvm_pulp.report.scatter import Dot, scatter

_WIDTH, _HEIGHT = 560, 300


def chart(frame: Any, across: str = "area_mm2", upwards: str = "cycles") -> Any:
    """Two figures of all rows to zoom and point at, a colour for each model and target; lines are Pareto fronts.

    The chart is Altair's: `chart(frame).properties(width=800)`, `.save("study.html")`.
    """
    altair = _altair()
    records = [
        {"configuration": f"{model}, {target}", "SoC": soc, "front": on_front, across: x, upwards: y}
        for model, target, soc, x, y, on_front in points(frame, across, upwards)
    ]
    encoded = {
        "x": altair.X(f"{across}:Q", title=NAMES.get(across, across), scale=altair.Scale(zero=False)),
        "y": altair.Y(f"{upwards}:Q", title=NAMES.get(upwards, upwards), scale=altair.Scale(zero=False)),
        "color": altair.Color("configuration:N", title=None, legend=altair.Legend(orient="bottom", labelLimit=400)),
    }
    base = altair.Chart(altair.Data(values=records))
    # Dashes of their own: fronts that lie on each other are seen as two.
    dashes = altair.StrokeDash("configuration:N", legend=None)
    fronts = base.transform_filter("datum.front").mark_line().encode(**encoded, strokeDash=dashes)
    told = [altair.Tooltip(f"{name}:Q", format=",.4~f") for name in (upwards, across)]
    dots = base.mark_circle(size=70).encode(
        **encoded,
        opacity=altair.condition("datum.front", altair.value(1), altair.value(0.45)),
        tooltip=["configuration:N", "SoC:N", *told],
    )
    title = f"{NAMES.get(upwards, upwards)} over {NAMES.get(across, across)}"
    return (fronts + dots).properties(title=title, width=_WIDTH, height=_HEIGHT).interactive()


def lines(series: Mapping[str, Iterable[tuple[float, float]]], title: str, across: str, upwards: str) -> Any:
    """Named lines through points, with zero in sight; a chart of Altair's, as `chart` makes."""
    altair = _altair()
    records = [{"line": name, across: float(x), upwards: float(y)} for name, row in series.items() for x, y in row]
    colours = altair.Color("line:N", title=None, legend=altair.Legend(orient="bottom") if len(series) > 1 else None)
    told = [altair.Tooltip(f"{name}:Q", format=",.4~f") for name in (across, upwards)]
    drawn = altair.Chart(altair.Data(values=records)).mark_line(point=True)
    drawn = drawn.encode(
        x=f"{across}:Q",
        y=f"{upwards}:Q",
        color=colours,
        strokeDash=altair.StrokeDash("line:N", legend=None),
        tooltip=["line:N", *told],
    )
    return drawn.properties(title=title, width=_WIDTH, height=_HEIGHT).interactive()


def _altair() -> Any:
    """The library, set to let Jupyter draw: its other ways load scripts from the network."""
    altair = needed("altair", "charts need Altair: pip install 'tvm_pulp[notebooks]', or draw with trade_off()")
    altair.renderers.register("tvm_pulp", _drawn_by_jupyter)
    altair.renderers.enable("tvm_pulp")
    return altair


def _drawn_by_jupyter(spec: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """The description of a chart, of the version that Jupyter brings a renderer for; what is used here is in it."""
    schema = "https://vega.github.io/schema/vega-lite/v5.json"
    drawn = {"application/vnd.vegalite.v5+json": {**spec, "$schema": schema}, "text/plain": "<a chart of Vega-Lite>"}
    picture = _picture(spec)
    return drawn if picture is None else {**drawn, "image/svg+xml": picture}


def _picture(spec: Mapping[str, Any]) -> str | None:
    """The points and lines of one of these charts for pages without scripts, as wide as there is room; else None."""
    shown = spec.get("layer", [spec])[-1]
    named = [shown.get("encoding", {}).get(channel, {}) for channel in ("x", "y", "color")]
    values = (spec.get("data") or shown.get("data") or {}).get("values")
    fields = [channel.get("field") for channel in named]
    if values is None or None in fields or any(name not in row for name in fields for row in values):
        return None
    across, upwards, colour = fields
    dots = [
        Dot(row[across], row[upwards], row[colour], f"{row[upwards]:,.10g}", joined=row.get("front", True))
        for row in values
    ]
    titles = [str(channel.get("title") or name) for channel, name in zip(named[:2], fields, strict=False)]
    return scatter(str(spec.get("title", "")), dots, *titles, from_zero="layer" not in spec)
