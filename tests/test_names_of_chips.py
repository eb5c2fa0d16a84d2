"""Generic stages know levels, agents, limits and costs, never the name of a chip, an engine or an instruction set."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

NAMES = re.compile(
    r"siracusa|mchan|neureka|xpulp|ri5cy|weight_(sram|mram)|\b(ita|snitch|qvanilla)\b"  # who it is
    r"|0x1ff00|0x1ffff|1 << 17|0x10[0-9a-f]{6}\b|0x1[ac][0-9a-f]{6}\b",  # what only it has: limits, addresses
    re.IGNORECASE,
)
# Where such names belong: descriptions, platforms, the simulator's settings, which are called as in its C code, the
# registers of an instruction set, which a debugger knows by name, and adapters to another simulator's model of a chip.
ALLOWED = (
    "tvm_pulp/soc/",
    "tvm_pulp/sim/iss/settings.py",
    "tvm_pulp/sim/iss/gdb/description.py",
    "tvm_pulp/sim/gvsoc/",
    "tvm_pulp/sim/plugin/gvsoc.py",
    # A softmax that other tools call after the engine that computes it.
    "tvm_pulp/qnn/softmax",
)


def find_names(root: Path) -> Iterator[str]:
    """Lines of generic stages with such a name."""
    for path in sorted([*(root / "tvm_pulp").rglob("*.py"), *(root / "schedules").rglob("*.py")]):
        name = path.relative_to(root).as_posix()
        if name.startswith(ALLOWED):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if NAMES.search(line):
                yield f"{name}:{number}: {line.strip()}"


def test_generic_stages_name_no_chip() -> None:
    assert list(find_names(REPOSITORY)) == []


@pytest.mark.parametrize(
    "line",
    [
        'raise UserError("choose --soc=siracusa")',
        "LARGEST = 0x1FF00",
        'if level == "weight_sram":',
        "# Mchan",
        "# as ITA does",
    ],
)
def test_a_planted_name_is_found(tmp_path: Path, line: str) -> None:
    for place, found in (("tvm_pulp/planning/tiling", 1), ("tvm_pulp/soc", 0)):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / "a.py").write_text(f"{line}\n")
        assert len([n for n in find_names(tmp_path) if n.startswith(place)]) == found
