"""`tvmc explain`: layer by layer, what the compiler makes of a model."""

from __future__ import annotations

import argparse
import sys

from tvm_pulp.tvmc.model_options import add_model_arguments, options_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from tvm_pulp.api import explain

    explain(args.MODEL, options_of(args), sys.stdout)
    return 0
