"""ONNX's own test cases, read file by file: computing all of them takes ten seconds."""

import importlib
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case import node as node_cases
from onnx.backend.test.loader import load_model_tests

FOLDERS = ("simple", "pytorch-converted", "pytorch-operator")
_PACKAGE = node_cases.__name__
# What ONNX writes out of an operator's definition is another operator's case.
_WRITTEN_OUT = "_expanded"
_TRAINING = "ai.onnx.preview.training"


def operator_files() -> list[str]:
    """Names of the files that define cases of operators."""
    found = pkgutil.walk_packages(node_cases.__path__, f"{_PACKAGE}.")
    names = (info.name.removeprefix(f"{_PACKAGE}.") for info in found if not info.ispkg)
    return sorted(name for name in names if not name.startswith("_"))


def cases_of(file: str) -> list[Any]:
    """Cases that a file defines."""
    name, known = f"{_PACKAGE}.{file}", len(node_cases._NodeTestCases)
    with warnings.catch_warnings(action="ignore"):
        if name in sys.modules:
            # The runner of ONNX in another test has read all files, and a second case of a name is refused.
            node_cases._existing_names.clear()
            importlib.reload(sys.modules[name])
        else:
            importlib.import_module(name)
    return [case for case in node_cases._NodeTestCases[known:] if _counts(case.name, case.model)]


def stored_cases(folder: str) -> Iterator[Any]:
    """Cases that are files, with their models."""
    for case in sorted(load_model_tests(kind=folder), key=lambda case: str(case.name)):
        case.model = onnx.load(str(Path(case.model_dir) / "model.onnx"))
        if _counts(case.name, case.model):
            yield case


def _counts(name: str, model: Any) -> bool:
    """Tell if a case is about tensors of numbers: no strings, sequences, optionals, maps, nothing of training."""
    if _WRITTEN_OUT in name or any(o.domain == _TRAINING for o in model.opset_import):
        return False
    ends = (*model.graph.input, *model.graph.output)
    kinds = [end.type for end in ends]
    plain = all(k.HasField("tensor_type") and k.tensor_type.elem_type != onnx.TensorProto.STRING for k in kinds)
    return plain and not any(node.op_type.startswith("Optional") for node in model.graph.node)


def data_of(case: Any) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Inputs and results, set by set."""
    if case.model_dir is None:
        return [([_array(a) for a in given], [_array(a) for a in wanted]) for given, wanted in case.data_sets]
    folders = sorted(Path(case.model_dir).glob("test_data_set*"))
    return [(_stored(folder, "input"), _stored(folder, "output")) for folder in folders]


def _array(value: Any) -> np.ndarray:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _stored(folder: Path, kind: str) -> list[np.ndarray]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [_array(onnx.load_tensor(str(folder / f"{kind}_{n}.pb"))) for n in range(count)]
