"""`tvmc explain`: layer by layer, what the compiler makes of a model."""

from __future__ import annotations

import argparse
import sys

from tvm_pulp.tvmc.model_options import add_model_arguments, check_writable, options_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)
    parser.add_argument(
        "--onnx", metavar="FILE.onnx", help="also write the partitioned network, one node per region, for Netron"
    )


def run(args: argparse.Namespace) -> int:
    onnx = check_writable(args.onnx, "--onnx") if args.onnx else None
    from tvm_pulp.api import explain

    explain(args.MODEL, options_of(args), sys.stdout, onnx)
    return 0
