"""Two reports side by side."""

from collections.abc import Mapping
from typing import Any

from tvm_pulp.report.causes import CAUSES
from tvm_pulp.report.compare_reports import compared
from tvm_pulp.report.html.page import page


def compare_page(runs: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of two named reports."""
    first, second = runs.values()
    data = {
        "causes": list(CAUSES),
        "names": list(runs),
        "runs": [first, second],
        "compared": compared(first, second),
    }
    return page("compare", " and ".join(runs), data, ("basics", "summary", "causes", "compare"))
