"""Tests of the plug-in need MLonMCU; without it they are skipped, visibly."""

import warnings
from pathlib import Path

import pytest

from tests.tvmc.mlonmcu.wrapper import Environment
from tvm_pulp.errors import UserError
from tvm_pulp.tvmc.mlonmcu import register


@pytest.fixture(scope="session")
def mlonmcu() -> None:
    """MLonMCU with the plug-in, in this process."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            register()
    except UserError as error:
        pytest.skip(str(error))


@pytest.fixture
def environment(mlonmcu: None, tmp_path: Path) -> Environment:
    """A place for an environment that does not exist yet."""
    return Environment(tmp_path / "environment")
