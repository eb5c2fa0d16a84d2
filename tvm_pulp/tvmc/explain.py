"""`tvmc explain`: layer by layer, what the compiler makes of a model."""

import argparse
import sys
from io import StringIO
from pathlib import Path

from tvm_pulp.errors import refuse_if
from tvm_pulp.tvmc.argument import FILE, argument
from tvm_pulp.tvmc.model_options import options_of
from tvm_pulp.tvmc.progress import Progress

ARGUMENTS = (
    argument(
        "--onnx",
        writes=FILE,
        metavar="FILE.onnx",
        help="also write the partitioned network, one node per region, for Netron",
    ),
    argument(
        "--suggestions",
        type=int,
        default=3,
        metavar="N",
        help="how many changes that would save most are planned and named; 0: none, which is quicker",
    ),
)


def run(args: argparse.Namespace) -> int:
    refuse_if(args.suggestions < 0, f"--suggestions {args.suggestions}: must not be negative")
    onnx, options = Path(args.onnx) if args.onnx else None, options_of(args)
    from tvm_pulp.explain.explain import explain

    # Printed when planning is over, so that the two do not mix on a terminal.
    text = StringIO()
    try:
        with Progress("explain", stages=False):
            explain(args.MODEL, options, text, onnx, args.suggestions)
    finally:
        sys.stdout.write(text.getvalue())
    return 0
