"""Limits of the executors, read from the headers in C that state them."""

import re
from importlib import resources

_RUNTIME = resources.files("c_runtime").joinpath("hal")


def _stated(name: str, header: str) -> int:
    """The smallest value of an enumerator in the headers of this name: a program runs on any executor."""
    texts = (folder.joinpath("include/tvm_pulp", header) for folder in _RUNTIME.iterdir() if folder.is_dir())
    found = [re.findall(rf"\b{name} = (\d+)", path.read_text(encoding="utf-8")) for path in texts if path.is_file()]
    return min(int(value) for values in found for value in values)


# Jobs that can be waited for one by one.
TICKETS = _stated("TVM_PULP_TICKETS", "step_record.h")
# Groups of transfers that an agent may have under way; the last that an executor numbers is everything from L3.
GROUPS_OF_AGENT = _stated("TVM_PULP_GROUPS", "step_record.h") - 1
