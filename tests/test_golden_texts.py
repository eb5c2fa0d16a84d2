"""What a failing golden text shows: a diff, and the command that accepts it."""

from pathlib import Path

import pytest

from tests.golden_texts import check_golden


def test_a_different_text_is_a_diff_and_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "golden" / "text.txt"
    monkeypatch.setenv("TVM_PULP_UPDATE_GOLDEN", "1")
    check_golden(path, "one\ntwo\n")
    monkeypatch.delenv("TVM_PULP_UPDATE_GOLDEN")
    check_golden(path, "one\ntwo\n")
    with pytest.raises(pytest.fail.Exception) as failure:
        check_golden(path, "one\nthree\n")
    lines = str(failure.value).splitlines()
    assert "-two" in lines and "+three" in lines and " one" in lines
    name = f"{Path(__file__).name}::{test_a_different_text_is_a_diff_and_a_command.__name__}'"
    assert lines[-1].startswith("To accept it: TVM_PULP_UPDATE_GOLDEN=1 scripts/test '") and lines[-1].endswith(name)


def test_a_missing_file_is_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TVM_PULP_UPDATE_GOLDEN", raising=False)
    with pytest.raises(pytest.fail.Exception, match=r"\+one"):
        check_golden(tmp_path / "text.txt", "one\n")
