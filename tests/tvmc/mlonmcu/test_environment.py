"""The environment is made where there is none, made again when it is old, and left alone when it was edited."""

from pathlib import Path

import pytest
import yaml

from tvm_pulp.errors import UserError


def test_it_is_made_once_and_kept_when_edited(mlonmcu: None, tmp_path: Path) -> None:
    from tvm_pulp.tvmc.mlonmcu.environment import FILE, ensure_environment, environment_text

    home = tmp_path / "home"
    assert ensure_environment(home) and not ensure_environment(home)
    content = yaml.safe_load((home / FILE).read_text())
    assert content["frameworks"]["tvmpulp"]["backends"]["tvmpulp_neureka"]["enabled"]
    assert content["vars"] == {"allow_extensions": True, "runs_per_stage": True}
    # One that we wrote when there were fewer backends is written again.
    elsewhere = environment_text(tmp_path / "elsewhere")
    (home / FILE).write_text(elsewhere)
    assert ensure_environment(home) and (home / FILE).read_text() == environment_text(home)
    # One that the user changed is the user's.
    (home / FILE).write_text(elsewhere + "# mine\n")
    assert not ensure_environment(home) and (home / FILE).read_text().endswith("# mine\n")


def test_a_folder_that_cannot_be_made_is_a_user_error(mlonmcu: None, tmp_path: Path) -> None:
    from tvm_pulp.tvmc.mlonmcu.environment import ensure_environment

    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write the environment"):
        ensure_environment(tmp_path / "file")


def test_which_environment_is_meant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tvm_pulp.tvmc.mlonmcu.command_line import chosen_environment

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TVM_PULP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("MLONMCU_HOME", raising=False)
    assert chosen_environment(["flow"]) == tmp_path / "cache" / "mlonmcu"
    (tmp_path / "environment.yml").write_text("")
    assert chosen_environment(["flow"]) == tmp_path
    monkeypatch.setenv("MLONMCU_HOME", "stated")
    assert chosen_environment(["flow"]) == tmp_path / "stated"
    assert chosen_environment(["flow", "run", "-H", "given"]) == tmp_path / "given"
    assert chosen_environment(["flow", "--home=given"]) == tmp_path / "given"
