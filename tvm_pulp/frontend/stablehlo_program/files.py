"""Files of StableHLO: MLIR bytecode or text, as `jax.export` and TensorFlow write them. They are data: nothing runs."""

from pathlib import Path
from typing import Any

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.library_errors import first_line, refuse_library_errors
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS, deepest_nesting, read_file
from tvm_pulp.frontend.stablehlo_program.program import StablehloProgram, import_jax

_BYTECODE = b"ML\xefR"
# A reader of text that recurses must not be led too deep.
_DEEPEST_TEXT = 200


def load_stablehlo(path: Path) -> StablehloProgram:
    """The program in a file; its arguments are the inputs."""
    import_jax(f"'{path}'")
    content = read_file(path, "is larger than 1 GiB: no network here is", 4 * LARGEST_CONSTANTS)
    return StablehloProgram(module_of(content, f"'{path}'"), [], [], [], "XLA")


def module_of(content: bytes, what: str) -> Any:
    """A verified module from bytecode, portable or not, from text, or from `jax.export`'s own envelope."""
    from jax._src.interpreters import mlir as jax_mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    if not content.startswith(_BYTECODE):
        inner = _envelope(content)
        content = inner if inner is not None else content
    text = None if content.startswith(_BYTECODE) else _text(content, what)
    context = jax_mlir.make_ir_context()
    with refuse_library_errors(f"{what} is no readable StableHLO", ": write it with jax.export", first_line), context:
        if text is not None:
            module = ir.Module.parse(text)
        elif b"StableHLO_v" in content[:64]:
            module = stablehlo.deserialize_portable_artifact(context, content)
        else:
            module = ir.Module.parse(content)
        module.operation.verify()
        return module


def _text(content: bytes, what: str) -> str:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(
            f"{what} is neither MLIR bytecode nor text: write exported.mlir_module_serialized of jax.export"
        ) from None
    deepest = deepest_nesting(text, "{[(<", "}])>")
    refuse_if(deepest > _DEEPEST_TEXT, f"{what} is nested {deepest} deep: no exporter writes that")
    return text


def _envelope(content: bytes) -> bytes | None:
    """The bytecode inside of what `Exported.serialize` wrote; None for anything else."""
    place = content.find(_BYTECODE)
    return content[place:] if 0 < place < 1 << 20 else None
