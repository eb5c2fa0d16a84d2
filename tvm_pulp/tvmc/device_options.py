"""Options of a device: where a simulator is installed, which of its targets runs."""

from __future__ import annotations

import argparse

from tvm_pulp.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them; `settings` reads them."""
    parser.add_argument(
        "--device-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the device, as often as wanted; `tvmc targets` lists them",
    )


def settings(args: argparse.Namespace) -> dict[str, str]:
    """Values by name; the device checks the names."""
    found: dict[str, str] = {}
    for text in args.device_option:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UserError(f"--device-option {text}: write NAME=VALUE")
        found[name] = value
    return found
