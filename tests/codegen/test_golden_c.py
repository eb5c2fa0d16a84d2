"""The emitted C of a small network, as text to be read in a review.

`TVM_PULP_UPDATE_GOLDEN=1 scripts/test tests/codegen/test_golden_c.py` rewrites the files; look at the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tvm_pulp
from tests.codegen import small_networks
from tests.codegen.unpacked import save_model

FOLDER = Path(__file__).parent / "golden"
FILES = (
    "codegen/host/src/classifier_kernels.c",
    "codegen/host/src/classifier_run.c",
    "codegen/host/include/tvmgen_classifier.h",
    "codegen/host/include/classifier_weights.h",
    "src/main.tir.txt",
)
CLUSTER_FILES = (
    "codegen/host/src/classifier_run.c",
    "codegen/host/src/classifier_program.c",
    "src/main.tir.txt",
)
# Folder -> target and the files that are compared. Greedy plans: it is about how a plan is written, not which it is.
TARGETS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "": ({}, FILES),
    "cluster": ({"target": "c", "soc": "siracusa", "planner": "greedy"}, CLUSTER_FILES),
    "neureka": ({"target": "uma-neureka", "planner": "greedy"}, CLUSTER_FILES),
    "snitch": ({"target": "c", "soc": "snitch-ita", "planner": "greedy"}, CLUSTER_FILES),
}


@pytest.mark.parametrize(("folder", "file"), [(name, file) for name, (_, files) in TARGETS.items() for file in files])
def test_emitted_text(tmp_path: Path, folder: str, file: str) -> None:
    model = save_model(small_networks.classifier(), tmp_path)
    emitted = tvm_pulp.compile(model, module_name="classifier", **TARGETS[folder][0]).files[file].decode()
    golden = FOLDER / folder / Path(file).name
    if os.environ.get("TVM_PULP_UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(emitted)
    assert emitted == golden.read_text()
