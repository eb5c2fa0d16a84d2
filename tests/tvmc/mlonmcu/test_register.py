"""What is missing is said with the way out."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("absent", "sentence"),
    [
        ("mlonmcu", "MLonMCU is not installed: pip install 'tvm_pulp[mlonmcu]'"),
        ("pkg_resources", "MLonMCU needs 'pkg_resources', which setuptools has up to version 80"),
    ],
)
def test_a_missing_package_is_a_user_error(request: pytest.FixtureRequest, absent: str, sentence: str) -> None:
    if absent != "mlonmcu":
        request.getfixturevalue("mlonmcu")
    code = (
        f"import sys, importlib.abc\n"
        f"class Absent(importlib.abc.MetaPathFinder):\n"
        f"    def find_spec(self, name, path, target=None):\n"
        f"        if name == '{absent}':\n"
        f"            raise ModuleNotFoundError(name, name=name)\n"
        f"sys.meta_path.insert(0, Absent())\n"
        f"from tvm_pulp.tvmc.mlonmcu.command_line import main\n"
        f"sys.exit(main(['--version']))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("tvmpulp-mlonmcu: ") and sentence in line


def test_registering_twice_is_fine(mlonmcu: None) -> None:
    from mlonmcu.flow import SUPPORTED_BACKENDS

    from tvm_pulp.tvmc.mlonmcu import register

    register()
    assert "tvmpulp_c" in SUPPORTED_BACKENDS and "tflmi" in SUPPORTED_BACKENDS
