"""The command line knows engine, options and SoCs."""

import pytest

from tvm_pulp.tvmc.main import main


def test_targets_name_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets"]) == 0
    shown = capsys.readouterr().out
    for word in ("uma-ne16", "--target-uma-ne16-requant", "pulp-open-ne16", "gap9"):
        assert word in shown


def test_a_soc_without_the_engine_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "zoo:dscnn", "--target=uma-ne16", "--soc=siracusa", "-o", "never.tar"]) == 2
    assert "--soc siracusa has no engine 'ne16'" in capsys.readouterr().err
