"""Every command of the page about boards runs, in a folder of its own."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.toolchain.project import cmake

PAGE = Path(__file__).resolve().parents[3] / "docs" / "bring_it_to_your_board.md"


@pytest.mark.slow
def test_the_commands_run(tmp_path: Path) -> None:
    cmake.skip_without_cmake()
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 2
    for block in blocks:
        done = subprocess.run(
            ["sh", "-e", "-c", block],
            cwd=tmp_path,
            env=cmake.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "cycles" in done.stderr.splitlines()[-1]
