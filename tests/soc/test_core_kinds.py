"""Kinds of cores are descriptions: what stages know of a kind is what its file says."""

import re
from pathlib import Path

import pytest

from tvm_pulp import soc as socs
from tvm_pulp.errors import UserError
from tvm_pulp.soc.core_kinds import core_kind, core_kinds, hal_kind

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", socs.names())
def test_every_preset_has_cores_of_a_kind_that_there_is(name: str) -> None:
    assert socs.load(name).cluster.kind is core_kinds()[socs.load(name).cluster.core]


def test_an_unknown_kind_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: mine\nbased_on: siracusa\ncluster: {core: ri5cz}\n")
    with pytest.raises(UserError, match=r"cluster\.core: no kind of cores: choose one of pool, ri5cy, rv32, snitch"):
        socs.load(path)


def test_a_runtime_is_for_one_kind_at_most() -> None:
    claimed = [kind.hal for kind in core_kinds().values() if kind.hal is not None]
    assert len(claimed) == len(set(claimed))
    assert [hal_kind(hal) for hal in claimed] == [kind for kind in core_kinds().values() if kind.hal is not None]
    assert hal_kind("nobody's") is None


def test_cores_behind_those_that_compute_follow_from_the_kind() -> None:
    assert core_kind("ri5cy").controller and not core_kind("ri5cy").dma_core
    assert [socs.load(name).all_cores for name in ("siracusa", "snitch-ita", "rv32-mcu")] == [9, 9, 1]


def test_no_stage_compares_the_name_of_a_kind() -> None:
    names = "|".join(core_kinds())
    compared = re.compile(rf"\.core\s*(==|!=|in\b)|[\"']({names})[\"']\s*(==|!=)|(==|!=)\s*[\"']({names})[\"']")
    folders = (REPOSITORY / "tvm_pulp", REPOSITORY / "schedules", REPOSITORY / "uma_backends")
    found = [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if compared.search(line)
    ]
    assert found == []
