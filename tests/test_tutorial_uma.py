"""docs/tutorial_uma.md works: its commands and code run in the order in which they stand there."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?(?: needs=(\S+))?\n(.*?)^```$", re.S | re.M)
# The whole page takes a minute.
pytestmark = pytest.mark.slow

SIMULATORS = ("GVSOC_HOME", "ETISS_HOME")
KINDS = ("sh", "python", "diff", "text")


@dataclass(frozen=True)
class Block:
    """One block of the page."""

    kind: str
    file: str
    needs: str
    """The variable that names an installation of a simulator, or nothing."""
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
        done = self._finished(*command)
        assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def refused(self, block: Block) -> None:
        """Its first command says in one sentence which installation is missing, and where it looked."""
        done = self._finished("bash", "-e", "-c", block.text)
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1, done
        assert f"${block.needs} is not set" in done.stderr, done

    def _finished(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False
        )

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
    assert {b.needs for b in blocks(page)} == {"", *SIMULATORS}


@pytest.fixture(scope="module")
def missing(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The page from top to bottom; the installations that were not there."""
    place, said, not_there = Workplace(tmp_path_factory.mktemp("tutorial"), repository), "", set()
    for block in blocks((repository / "docs" / "tutorial_uma.md").read_text(encoding="utf-8")):
        if block.needs and block.needs not in os.environ:
            not_there.add(block.needs)
            if block.kind == "sh":
                place.refused(block)
        elif block.kind == "sh":
            said = place.run("bash", "-e", "-c", block.text)
        elif block.kind == "diff":
            place.edit(block)
        elif block.kind == "text":
            assert block.text in said, f"the command before does not say\n{block.text}"
        elif block.file:
            (place.folder / block.file).write_text(block.text, encoding="utf-8")
        else:
            place.run("python", "-c", block.text)
    return not_there


def test_the_tutorial_works(missing: set[str]) -> None:
    assert missing <= set(SIMULATORS)


@pytest.mark.parametrize("variable", SIMULATORS)
def test_the_engine_runs_in_the_other_simulator(variable: str, missing: set[str]) -> None:
    """Without an installation the page's commands said so, and that is all that was seen."""
    if variable in missing:
        pytest.skip(f"{variable} names no installation: the commands of the page were refused with a sentence")
