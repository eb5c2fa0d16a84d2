"""The emitted C of a small network, as text to be read in a review.

`TVM_PULP_UPDATE_GOLDEN=1 scripts/test tests/codegen/test_golden_c.py` rewrites the files; look at the difference.
"""

import re
from pathlib import Path

import pytest

import tvm_pulp
from tests.codegen import small_networks
from tests.codegen.unpacked import save_model
from tests.golden_texts import check_golden

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
    "ita": ({"target": "uma-ita", "planner": "greedy"}, CLUSTER_FILES),
}
# Networks other than the classifier.
NETWORKS = {"ita": small_networks.product}


@pytest.mark.parametrize(("folder", "file"), [(name, file) for name, (_, files) in TARGETS.items() for file in files])
def test_emitted_text(tmp_path: Path, folder: str, file: str) -> None:
    model = save_model(NETWORKS.get(folder, small_networks.classifier)(), tmp_path)
    emitted = tvm_pulp.compile(model, module_name="classifier", **TARGETS[folder][0]).files[file].decode()
    check_golden(FOLDER / folder / Path(file).name, emitted)


def test_configuration_words_have_their_fields_beside_them() -> None:
    """What engines say of their words; QVanilla's have members of their own."""
    neureka, ita = ((FOLDER / engine / "classifier_run.c").read_text() for engine in ("neureka", "ita"))
    assert re.search(
        r"\[NEUREKA_CONFIG0\] = 0x\w+ /\* dense_3x3, 4-bit weights, 8-bit outputs, .*shift 10.*\*/", neureka
    )
    assert "/* 1 top, 1 right, 1 bottom, 1 left, value 0 */" in neureka
    assert "/* product, no activation, bias by column */" in ita and "/* shifts: q 12 */" in ita


def test_negative_constants_have_their_sign(tmp_path: Path) -> None:
    model = save_model(small_networks.classifier(), tmp_path)
    files = tvm_pulp.compile(model, module_name="classifier", target="uma-neureka", planner="greedy").files
    words = files["codegen/host/include/classifier_bundle_weights.h"].decode()
    bias = words.split("CLASSES_FOLDED_BIAS_CONSTANT", 1)[1].split("#")[0]
    assert re.search(r"-\d+", bias) and not re.search(r"4294\d{6}", bias)


def test_every_layer_has_a_label() -> None:
    """An enumerator by which a debugger finds the word that is written when the layer begins."""
    text = (FOLDER / "cluster" / "classifier_run.c").read_text()
    labels = re.findall(r"^  (layer_\w+),$", text, re.M)
    assert labels and all(f"LAYER({label})" in text for label in labels)
