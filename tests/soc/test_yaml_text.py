"""Descriptions and studies in YAML: whatever is in one, the answer is one sentence, soon and within little memory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tvmc.command_line import check_refused, tvmc
from tvm_pulp.dse.study_file import read_study
from tvm_pulp.errors import UserError
from tvm_pulp.soc import catalog

NINE = ",".join("*" * 1 + "{}" for _ in range(9))
DOUBLED = "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{NINE.replace('{}', f'a{n}')}]\n" for n in range(12))
TEXTS = {
    "five thousand digits": ("name: " + "9" * 5000, "a number of 5000 digits"),
    "hexadecimal digits": ("name: 0x" + "f" * 5000, "a number of 5002 digits"),
    "sixties": ("name: 1" + ":59" * 3000, "a number of 6001 digits"),
    "deep lists": ("a: " + "[" * 100_000, "nested deeper than 50"),
    "deep mappings": ("{a: " * 5000, "nested deeper than 50"),
    "deep dashes": ("- " * 5000, "nested deeper than 50"),
    "aliases of aliases": (DOUBLED, "stand for more than"),
    "a list in itself": ("a: &a [*a]", "stand for more than"),
    "an object": ("!!python/object/apply:os.system ['touch pwned']", "could not determine a constructor"),
    "a module": ("a: !!python/module:antigravity", "could not determine a constructor"),
    "a month that is none": ("a: 2001-13-45", "month must be in 1..12"),
    "no base64": ("a: !!binary x", "base64"),
    "a key of lists": ("? [a]\n: 1", "unhashable"),
    "a zero": ("a: \0", "control characters"),
}


@pytest.mark.parametrize("case", TEXTS)
@pytest.mark.parametrize("read", [catalog.load, read_study], ids=["description", "study"])
def test_bad_texts(case: str, read: Callable[[str], Any], tmp_path: Path) -> None:
    text, words = TEXTS[case]
    path = tmp_path / "file.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=r"file\.yaml") as caught:
        read(str(path))
    told = str(caught.value)
    assert words in told and "is not valid YAML" in told and len(told) < 600 and "\n" not in told


VALUES = [".inf", "-.inf", ".nan", "null", "[[1]]", "2001-01-01", "!!set {a}", "!!binary aGk=", "1.5", "true", "{a: 1}"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", ["l1", "l2", "l3", "base"])
def test_values_of_grids(key: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    said = f"{{base: {value}, cores: 1}}" if key == "base" else f"{{base: siracusa, {key}: {value}}}"
    path.write_text(f"models: ['zoo:dscnn']\nsocs: [{said}]\n", encoding="utf-8")
    if (key, value) == ("base", "null"):
        assert read_study(path).variants
        return
    with pytest.raises(UserError):
        read_study(path)


@pytest.mark.parametrize("value", [".inf", ".nan", "-.inf", "1e999"])
def test_settings_that_are_no_numbers(value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "soc.yaml"
    path.write_text(f"name: mine\nbased_on: siracusa\nmemory: {{l1: {{size: {value}}}}}\n", encoding="utf-8")
    check_refused(tvmc(capsys, "compile", "zoo:dscnn", "--soc", path, "-o", tmp_path / "n.tar"), ["size"], "compile")


def test_aliases_and_depth_that_people_write(tmp_path: Path) -> None:
    path = tmp_path / "soc.yaml"
    path.write_text("name: mine\nbased_on: siracusa\ncluster: &c {cores: 4}\n", encoding="utf-8")
    cluster = catalog.load(str(path)).cluster
    assert cluster is not None and cluster.cores == 4
