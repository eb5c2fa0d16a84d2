"""Every command line of README and docs works as it is typed."""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.command_lines import (
    NOT_RUN,
    PAGES,
    REPOSITORY,
    SIMULATORS,
    CommandLine,
    command_lines,
    files_of,
)
from tests.docs.example_files import FILES, provide
from tvm_pulp.option import MODEL_VERBS
from tvm_pulp.tvmc.argument import add_arguments
from tvm_pulp.tvmc.main import VERBS, arguments_of
from tvm_pulp.tvmc.model_options import split_engine_options

WITH_COMMANDS = [page for page in PAGES if command_lines(page)]
# Pages whose commands take a few seconds together; the others are slow.
QUICK = ("add_a_soc.md", "index.md")


# tests/test_tutorial_uma.py runs it, with the code that stands between its commands.
RUN_ELSEWHERE = "tutorial_uma.md"
# Pages that need PyTorch.
WITH_TORCH = ("pytorch_to_firmware.md",)


def marks_of(page: Path) -> list[pytest.MarkDecorator]:
    """What a test of a page needs, and whether it runs always."""
    torch = [pytest.mark.torch] if page.name in WITH_TORCH else []
    return torch if page.name in QUICK else [*torch, pytest.mark.slow]


def pages() -> list[object]:
    return [
        pytest.param(page, id=page.name, marks=marks_of(page)) for page in WITH_COMMANDS if page.name != RUN_ELSEWHERE
    ]


@pytest.mark.parametrize("page", pages())
def test_command_lines_work(page: Path, tmp_path: Path) -> None:
    """In order, in one folder, by the shell; files that the page takes for granted are there."""
    if page.name in WITH_TORCH:
        pytest.importorskip("torch", reason="PyTorch: scripts/test --torch --all installs it")
    lines = command_lines(page)
    typed = [line for line in lines if not line.reason_not_to_run]
    if not typed:
        pytest.skip("; ".join(f"{line.text}: {line.reason_not_to_run}" for line in lines))
    type_lines(page, typed, tmp_path)


# Two screens of 45 lines of 80 characters.
TWO_SCREENS = 2 * 45 * 80


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_the_first_command_comes_early(page: Path) -> None:
    assert page.read_text(encoding="utf-8").index(command_lines(page)[0].text) <= TWO_SCREENS


@pytest.mark.slow
@pytest.mark.parametrize("variable", SIMULATORS)
def test_command_lines_with_a_simulator(variable: str, tmp_path: Path) -> None:
    """Those of the page on other simulators, where one is installed."""
    if variable not in os.environ:
        pytest.skip(f"{variable} names no installation")
    page = REPOSITORY / "docs" / "simulators.md"
    lines = [line for line in command_lines(page) if line.simulator in (None, variable)]
    assert any(line.simulator for line in lines)
    type_lines(page, lines, tmp_path)


def type_lines(page: Path, typed: list[CommandLine], tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    data = Path(os.environ.get("TVM_PULP_DATA") or REPOSITORY.parent / "shared" / "data")
    packages = tmp_path / "installed"
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        # What a page installs goes into a folder of this test.
        "PIP_TARGET": str(packages),
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as "no": without isolation
        "PYTHONPATH": os.pathsep.join([str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    folder = tmp_path / "typed"
    folder.mkdir()
    for name, text in files_of(page).items():
        (folder / name).write_text(text, encoding="utf-8")
    for line in typed:
        if "cmake" in line.text and shutil.which("cmake") is None:
            pytest.skip("cmake is not installed")
        provide(folder, line.text, data)
        done = subprocess.run(
            ["bash", "-c", line.text], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line.text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def tvmc_lines() -> list[CommandLine]:
    """Every call of tvmc in a fenced block, each of a line with several."""
    lines = (line for page in WITH_COMMANDS for line in command_lines(page))
    calls = ((line.page, part.strip()) for line in lines for part in line.text.split("&&"))
    return [CommandLine(page, text) for page, text in calls if text.startswith("tvmc ")]


@pytest.mark.parametrize("line", tvmc_lines(), ids=lambda line: f"{line.page}: {line.text.split('#')[0].strip()}"[:90])
def test_command_lines_are_understood(line: CommandLine) -> None:
    """Verb and options exist: quick enough to be checked always."""
    words = shlex.split(line.text, comments=True)[1:]
    assert words[0] in VERBS
    parser = argparse.ArgumentParser(exit_on_error=False, allow_abbrev=False)
    add_arguments(parser, arguments_of(words[0]))
    if words[0] in MODEL_VERBS:
        words[1:], _ = split_engine_options(words[1:])
    _, unknown = parser.parse_known_args(words[1:])
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_inside_text_exist(page: Path) -> None:
    """`tvmc VERB --option` and `scripts/NAME` in running text name verbs, options and scripts that exist."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for call in re.findall(r"`((?:tvmc|(?:\./)?scripts/)[^`]*)`", text):
        words = call.split()
        if words[0] != "tvmc":
            assert (REPOSITORY / words[0]).exists(), call
        elif len(words) > 1 and re.fullmatch(r"\w+", words[1]) and words[1].islower():
            assert words[1] in VERBS, call
            known = {name for entry in arguments_of(words[1]) for name in entry.names}
            given = {word.split("=")[0].rstrip(",") for word in words[2:] if word.startswith("-")}
            assert {g for g in given if not g.startswith("--target-")} <= known, call


def test_what_is_not_run_is_there() -> None:
    """No exception outlives the line that it was made for, and no file the line that reads it."""
    typed = [line.text for page in WITH_COMMANDS for line in command_lines(page)]
    assert [start for start in NOT_RUN if not any(text.startswith(start) for text in typed)] == []
    assert [name for name in FILES if not any(name in text.split() for text in typed)] == []
    assert [name for name in QUICK if name not in {page.name for page in WITH_COMMANDS}] == []
