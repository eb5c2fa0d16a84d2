"""Options of a device: where a simulator is installed, which of its targets runs."""

import argparse

from tvm_pulp.errors import refuse_if
from tvm_pulp.tvmc.argument import argument

ARGUMENTS = (
    argument(
        "--device-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the device, as often as wanted; `tvmc targets` lists them",
    ),
)


def settings(args: argparse.Namespace) -> dict[str, str]:
    """Values by name; the device checks the names."""
    found: dict[str, str] = {}
    for text in args.device_option:
        name, equals, value = text.partition("=")
        refuse_if(not equals or not name or not value, f"--device-option {text}: write NAME=VALUE")
        found[name] = value
    return found
