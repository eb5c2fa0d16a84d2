"""Text files with places between @ that are filled in."""

import re
from collections.abc import Mapping
from importlib import resources


def template(name: str, values: Mapping[str, str]) -> str:
    """The file of `tvm_pulp/toolchain/project/templates` with all its places filled in."""
    text = resources.files("tvm_pulp.toolchain.project").joinpath("templates", name).read_text(encoding="utf-8")
    return re.sub(r"@([A-Z_]+)@", lambda place: values[place[1]], text)
