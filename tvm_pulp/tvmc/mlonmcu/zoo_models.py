"""Networks of the zoo as model files."""

from pathlib import Path

import numpy as np

PREFIX = "zoo:"


def is_zoo_model(name: str) -> bool:
    """Tell if a name is one of the zoo's networks."""
    from tvm_pulp.errors import UserError
    from tvm_pulp.frontend.zoo import catalog

    if name.startswith(PREFIX):
        return True
    try:
        catalog.notation(name)
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
    return cached_file(key, ".onnx", lambda path: _write(name, path))


def _write(name: str, path: Path) -> None:
    from tvm_pulp.frontend import zoo

    path.write_bytes(zoo.build(name).SerializeToString())


def zoo_inputs(name: str) -> dict[str, np.ndarray]:
    """A seeded sample, in graph order."""
    from tvm_pulp.frontend import zoo

    return {f"input_{position}": array for position, array in enumerate(zoo.sample_inputs(name))}
