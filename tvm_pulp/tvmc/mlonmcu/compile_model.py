"""The process behind the BUILD stage: `tvmc compile`, and what numpy makes of the inputs.

    python -m tvm_pulp.tvmc.mlonmcu.compile_model [--inputs F.npz] [--reference F.npz] -- ARGUMENTS OF tvmc compile

The reference evaluates the imported network by the definition of its operators: no plan, C or accelerator takes part.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tvm_pulp.tvmc.main import main as tvmc
from tvm_pulp.tvmc.main import parse


def main(argv: Sequence[str] | None = None) -> int:
    """Compile, then write the reference; exit status as that of `tvmc`."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    border = arguments.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=Path)
    parser.add_argument("--reference", type=Path)
    own, compiled = parser.parse_args(arguments[:border]), arguments[border + 1 :]
    status = tvmc(["compile", *compiled])
    if status == 0 and own.reference is not None:
        write_reference(compiled, own.inputs, own.reference)
    return status


def write_reference(compiled: Sequence[str], inputs: Path | None, path: Path) -> None:
    """Outputs by their graph names; no file where numpy does not know one of them to the last bit."""
    from tvm_pulp.codegen.reference_values import reference_values, value_of
    from tvm_pulp.compilation import Compilation
    from tvm_pulp.compile_options import OPTIONS, CompileOptions
    from tvm_pulp.option_values import read_arrays, write_arrays
    from tvm_pulp.tvmc.model_options import options_of

    args = parse("compile", compiled)
    stated = options_of(args)
    # Only what concerns the model, for this machine: no plan or accelerator takes part.
    options = CompileOptions(
        **{name: getattr(stated, name) for name, option in OPTIONS.items() if option.group == "model"}
    )
    compilation = Compilation(args.MODEL, options)
    imported, network = compilation.imported, compilation.network
    given = dict(read_arrays(str(inputs), "--inputs")) if inputs is not None else None
    values = reference_values(network, compilation.entry.arrays(given))
    outputs = zip(imported.outputs, network.outputs, strict=True)
    known = {name: value for name, t in outputs if (value := value_of(values, t)) is not None}
    if len(known) == len(imported.outputs):
        write_arrays(path, known)


if __name__ == "__main__":
    sys.exit(main())
