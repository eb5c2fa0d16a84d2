"""`tvmc targets`: SoCs, engines and their options."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(_args: argparse.Namespace) -> int:
    print("target   what it is")
    print("c        plain C, no accelerator")
    print()
    print("soc      what it is")
    print("host     this machine: the emitted C runs natively")
    return 0
