"""The program is read by the names of its records: nobody decodes TIR by position or plans by dictionary keys."""

import re
from pathlib import Path

import tvm_pulp

ROOT = Path(tvm_pulp.__file__).parent
# The readers of TIR calls: of the main function on a cluster, and of that on the host.
READERS = {ROOT / "planning" / "tir" / name for name in ("read_function.py", "aot_main.py")}
DECODED = re.compile(
    r"""integer\(\w+, \d+\)"""
    r"""|(?<!binding)\.value\.args"""
    r"""|\[["'](?:do|actions|waits|program)["']\]"""
    r"""|\.get\(["'](?:do|actions|reads|writes)["']"""
)


def test_nothing_is_decoded_by_position_or_key() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(ROOT.rglob("*.py"))
        if path not in READERS
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if DECODED.search(line)
    ]
    assert found == []
