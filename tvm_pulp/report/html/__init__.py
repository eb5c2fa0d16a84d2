"""Reports as one self-contained page of HTML: data as JSON, drawn by the scripts in `assets`, no external request."""

from tvm_pulp.report.html.page import check_layers, compare_page
from tvm_pulp.report.html.run_page import RunDetails, run_page

__all__ = ["RunDetails", "check_layers", "compare_page", "run_page"]
