"""The demo: what it prints is what README says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_demo_shows_neureka_beside_the_cluster(repository: Path, tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    settings = {"TVM_PULP_DEMO_DIR": str(tmp_path), "TVM_PULP_VENV": str(Path(sys.executable).parent.parent)}
    done = subprocess.run(
        [str(repository / "scripts" / "demo")],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for text in ("engine", "cycles", "MAC/cycle", "bound", "DMA bytes", "uma-neureka on siracusa", "c on siracusa"):
        assert text in done.stdout
    total = next(line for line in done.stdout.splitlines() if line.startswith("total"))
    first, second = (int(word.replace(",", "")) for word in total.split()[1:3])
    assert first < second / 2
    assert "outputs equal" in done.stdout
    story = done.stdout.split("--tokens 100\n")[-1]
    assert story.startswith("Once there was a shy fox named ") and story.count(".") > 5 and "tokens/s" in story
