"""Text files with places between @ that are filled in."""

import re
from collections.abc import Mapping
from importlib import resources


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text with all its places filled in."""
    return re.sub(r"@([A-Z0-9_]+)@", lambda place: values[place[1]], text)


def template(name: str, values: Mapping[str, str]) -> str:
    """The file of `tvm_pulp/toolchain/project/templates` with all its places filled in."""
    folder = resources.files("tvm_pulp.toolchain.project").joinpath("templates")
    return fill(folder.joinpath(name).read_text(encoding="utf-8"), values)
