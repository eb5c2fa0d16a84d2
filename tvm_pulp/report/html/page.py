"""Puts data, style and scripts together into one file; the page of two reports side by side."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from tvm_pulp.limits import REPORT_LAYERS
from tvm_pulp.report.causes import CAUSES
from tvm_pulp.report.compare_reports import compared


def page(kind: str, title: str, data: Mapping[str, Any], scripts: Sequence[str]) -> str:
    """A page of assets/`kind`.html. Data cannot end the element it stands in; nothing outside the file is reached."""
    assets = resources.files("tvm_pulp.report.html") / "assets"

    def read(name: str) -> str:
        return (assets / name).read_text(encoding="utf-8")

    parts = {
        "TITLE": escape(title),
        "STYLE": read("style.css"),
        "BODY": read(f"{kind}.html"),
        "DATA": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "SCRIPTS": "\n".join(read(f"{name}.js") for name in scripts),
    }
    # In one pass over the frame: what is put in is not looked at again.
    frame = read("frame.html").split("@@")
    return "".join(parts.get(part, part) for part in frame)


def check_layers(count: int) -> None:
    """Raise where a page would have to show more layers than a browser can."""
    REPORT_LAYERS.check(count, "--html: the page would show")


def compare_page(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of two named reports."""
    first, second = runs.values()
    for run in runs.values():
        check_layers(len(run["layers"]))
    data = {
        "causes": list(CAUSES),
        "names": list(runs),
        "runs": [first, second],
        "compared": compared(first, second),
    }
    return page("compare", " and ".join(runs), data, ("basics", "summary", "causes", "compare"))
