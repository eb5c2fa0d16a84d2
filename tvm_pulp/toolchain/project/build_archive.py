"""The ELF of an archive for a cluster."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from tvm_pulp.errors import refuse_if
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain import RiscvToolchain, build_riscv_elf
from tvm_pulp.toolchain.project.linker_script import check_linker_script
from tvm_pulp.toolchain.project.unpack import unpack

# Against -O2, gcc's -O3 saves 4 to 17 % of the cycles of dscnn and resnet8 for 3 to 26 % more code; zig makes the same
# code of both.
FLAGS = ("-O3", "-Wall", "-Wextra", "-Werror")


def build_archive(
    files: Mapping[str, bytes], metadata: dict[str, Any], *, profile: bool = False, toolchain: RiscvToolchain = "zig"
) -> Path:
    """Build an archive's sources; the ELF lies in the cache. `profile`: the program notes when its layers begin."""
    facts = metadata["tvm_pulp"]
    refuse_if(
        "march" not in facts,
        f"the archive is for SoC '{facts['soc']}', which has no bare-metal program: compile with --soc or a "
        "--target that names an engine, or build it with its CMakeLists.txt",
    )
    profiled = ["TVM_PULP_PROFILE"] if profile else []
    with TemporaryFolder() as folder:
        unpack(files, folder)
        sources, headers, script = sources_of(folder, facts.get("code_order", []))
        return build_riscv_elf(
            sources,
            headers,
            script,
            march=facts["march"],
            toolchain=toolchain,
            defines=[f"TVM_PULP_CORES={facts['cores']}", *profiled, *facts.get("defines", [])],
            extra_flags=[*FLAGS, *facts.get("flags", [])],
        )


def sources_of(folder: Path, code_order: Sequence[str] = ()) -> tuple[list[Path], list[Path], Path]:
    """C and assembly sources, include folders and the linker script of an unpacked archive.

    `code_order`: sources whose code comes first, in this order, so that cycles do not depend on names of files.
    """
    runtime = folder / "runtime"
    sources = [*folder.glob("codegen/host/src/*.c"), *runtime.glob("**/*.c"), *runtime.glob("**/*.S")]
    headers = [*folder.glob("codegen/host/include/*.h"), *runtime.glob("**/*.h")]
    includes = include_folders(path.relative_to(folder).as_posix() for path in headers)
    scripts = list(runtime.glob("**/*.ld"))
    refuse_if(
        len(scripts) != 1, f"the archive holds {len(scripts)} linker scripts instead of one: compile the model again"
    )
    check_linker_script(scripts[0])
    ordered = [folder / path for path in code_order if folder / path in sources]
    sources = [*ordered, *sorted(set(sources) - set(ordered))]
    return sources, sorted(folder / path for path in includes), scripts[0]


def include_folders(files: Iterable[str]) -> list[str]:
    """Folders that headers among an archive's files are included from: `include` ones, else those they lie in."""
    headers = (PurePosixPath(path) for path in files if path.endswith(".h"))
    return sorted({str(next((p for p in h.parents if p.name == "include"), h.parent)) for h in headers})
