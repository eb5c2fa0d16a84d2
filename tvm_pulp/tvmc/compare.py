"""`tvmc compare`: two reports of `tvmc run --report` side by side, as tables and as a page."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError
from tvm_pulp.input_file import read_input
from tvm_pulp.limits import JSON_BYTES
from tvm_pulp.output_files import write_output
from tvm_pulp.tvmc.argument import FILE, argument

ARGUMENTS = (
    argument("A", help="report written by `tvmc run --report`"),
    argument("B", help="another one"),
    argument("--html", writes=FILE, metavar="F.html", help="write both as one self-contained page"),
)
EPILOG = "example: tvmc compare before.json after.json --html both.html"


def run(args: argparse.Namespace) -> int:
    first, second = _read(args.A), _read(args.B)
    names = _names(args.A, args.B)
    from tvm_pulp.report.compare_reports import print_comparison

    if args.html:
        from tvm_pulp.report.html import compare_page

        write_output(args.html, compare_page(dict(zip(names, (first, second), strict=True))))
    print_comparison(names, first, second, sys.stdout)
    return 0


def _read(path: str) -> dict[str, Any]:
    from tvm_pulp.codegen.formats import ReportJson, from_json

    content = read_input(path, f"cannot read '{path}'", JSON_BYTES)
    try:
        report: dict[str, Any] = from_json(ReportJson, content)
        json.dumps(report, allow_nan=False)  # raises for numbers that JSON has not, such as 1e999
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise UserError(f"'{path}' is no report ({reason}): write one with `tvmc run --report`") from None
    return report


def _names(a: str, b: str) -> tuple[str, str]:
    """Names of the reports: the shortest that tell them apart."""
    for made in (Path(a).stem, Path(b).stem), (a, b):
        if made[0] != made[1]:
            return made
    return "first", "second"
