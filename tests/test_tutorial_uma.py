"""docs/tutorial_uma.md works: its commands and code run in the order in which they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.S | re.M)
KINDS = ("sh", "python", "diff", "text")


@dataclass(frozen=True)
class Block:
    """One block of the page."""

    kind: str
    file: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page)]


class Workplace:
    """An empty folder whose `pip` installs beside it, and leaves the environment of these tests alone."""

    def __init__(self, root: Path, repository: Path) -> None:
        self.folder, programs, site = root / "work", root / "bin", root / "site"
        self.folder.mkdir()
        programs.mkdir()
        modules = {
            "tvmc": "-m tvm_pulp.tvmc.main",
            "python": "",
            "pip": "-m pip --disable-pip-version-check",
        }
        for name, arguments in modules.items():
            path = programs / name
            more = f" -q --no-build-isolation --no-deps --no-index --upgrade --target {site}" if name == "pip" else ""
            # `pip install WHAT`: options go behind.
            path.write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"{more}\n')
            path.chmod(0o755)
        paths = f"{site}:{repository}"
        self._environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": paths}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def edit(self, block: Block) -> None:
        """Lines with a plus come in, where those without stand."""
        lines = block.text.splitlines()
        before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        path = self.folder / block.file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, f"{block.file} has {text.count(before)} places of\n{before}"
        path.write_text(text.replace(before, "".join(f"{line[1:]}\n" for line in lines)), encoding="utf-8")


def test_every_block_of_the_page_is_run(repository: Path) -> None:
    page = (repository / "docs" / "tutorial_uma.md").read_text(encoding="utf-8")
    assert page.count("```") == 2 * len(blocks(page)) and {b.kind for b in blocks(page)} == set(KINDS)


def test_the_tutorial_works(repository: Path, tmp_path: Path) -> None:
    place, said = Workplace(tmp_path, repository), ""
    for block in blocks((repository / "docs" / "tutorial_uma.md").read_text(encoding="utf-8")):
        if block.kind == "sh":
            said = place.run("bash", "-e", "-c", block.text)
        elif block.kind == "diff":
            place.edit(block)
        elif block.kind == "text":
            assert block.text in said, f"the command before does not say\n{block.text}"
        elif block.file:
            (place.folder / block.file).write_text(block.text, encoding="utf-8")
        else:
            place.run("python", "-c", block.text)
