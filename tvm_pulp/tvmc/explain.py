"""`tvmc explain`: layer by layer, what the compiler makes of a model."""

from __future__ import annotations

import argparse
import sys
from io import StringIO

from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.model_options import add_model_arguments, check_writable, options_of
from tvm_pulp.tvmc.progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, "explain")
    parser.add_argument(
        "--onnx", metavar="FILE.onnx", help="also write the partitioned network, one node per region, for Netron"
    )

    parser.add_argument(
        "--suggestions",
        type=int,
        default=3,
        metavar="N",
        help="how many changes that would save most are planned and named; 0: none, which is quicker",
    )


def run(args: argparse.Namespace) -> int:
    if args.suggestions < 0:
        raise UserError(f"--suggestions {args.suggestions}: must not be negative")
    onnx = check_writable(args.onnx, "--onnx") if args.onnx else None
    from tvm_pulp.explain.explain import explain

    # Printed when planning is over, so that the two do not mix on a terminal.
    text = StringIO()
    try:
        with Progress("explain", stages=False):
            explain(args.MODEL, options_of(args), text, onnx, args.suggestions)
    finally:
        sys.stdout.write(text.getvalue())
    return 0
