"""Inputs of a model and the outputs that belong to them: files beside the model state them, the zoo samples them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tvm_pulp.compile_options import ZOO
from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.option_values import read_arrays

Arrays = dict[str, np.ndarray]

# Beside a model: one case in two files, or several in one, whose first axis is the case.
_INPUTS, _OUTPUTS, _CASES = "inputs.npz", "outputs.npz", "golden.npz"
# Of several answers in a file of cases, the first that is there.
_ANSWERS = ("outputs", "outputs_reference")


@dataclass(frozen=True)
class Golden:
    """Arrays in the order of the graph; None is not stated."""

    inputs: Arrays | None
    outputs: Arrays | None


def find_golden(folder: Path, case: int, inputs: Path | None = None, outputs: Path | None = None) -> Golden:
    """Inputs and outputs that files in the model's folder state; files that are named win."""
    if inputs is None and outputs is None and (folder / _CASES).is_file():
        return _from_cases(folder / _CASES, case)
    refuse_if(case, f"case={case}: {folder} has no {_CASES} with several cases: drop it")
    if inputs is None and (folder / _INPUTS).is_file():
        inputs = folder / _INPUTS
        # Outputs without inputs belong to something else.
        outputs = outputs or (folder / _OUTPUTS if (folder / _OUTPUTS).is_file() else None)
    refuse_if(
        outputs is not None and inputs is None,
        f"outputs_path={outputs} is of no use without the inputs: state inputs_path as well",
    )
    return Golden(_read(inputs) if inputs else None, _read(outputs) if outputs else None)


def _from_cases(path: Path, case: int) -> Golden:
    arrays = _read(path)
    answer = next((name for name in _ANSWERS if name in arrays), None)
    if "inputs" not in arrays or answer is None:
        raise UserError(f"'{path}' holds no arrays 'inputs' and '{_ANSWERS[0]}', case by case: rename or remove it")
    refuse_if(
        not 0 <= case < len(arrays["inputs"]), f"case={case}: '{path}' has cases 0 to {len(arrays['inputs']) - 1}"
    )
    return Golden({"input": arrays["inputs"][case]}, {"output": arrays[answer][case]})


def _read(path: Path) -> Arrays:
    return dict(read_arrays(str(path), "golden data"))


def is_zoo_model(name: str) -> bool:
    """Tell if a name is one of the zoo's networks."""
    from tvm_pulp.frontend.zoo import catalog

    if name.startswith(ZOO):
        return True
    try:
        catalog.find(name)
    except UserError:
        return False
    return True


def zoo_file(name: str) -> Path:
    """The network as an ONNX file; built when the zoo's sources are new."""
    from tvm_pulp.frontend import zoo
    from tvm_pulp.toolchain.cache import cached_file, digest_of

    # An unknown name is a user error that says which one was meant.
    sources = sorted(Path(zoo.__file__).parent.glob("*.py"))
    key = digest_of(["zoo model", name, np.__version__, *(path.read_bytes() for path in sources)])

    return cached_file(key, ".onnx", lambda path: path.write_bytes(zoo.build(name).SerializeToString()))


def zoo_inputs(name: str) -> dict[str, np.ndarray]:
    """A seeded sample, in graph order."""
    from tvm_pulp.frontend import zoo

    return {f"input_{position}": array for position, array in enumerate(zoo.sample_inputs(name))}
