"""The files that make an archive a project: a CMake file, toolchain files, an example and a page on the network."""

from collections.abc import Mapping, Sequence
from typing import Any

from tvm_pulp import soc as socs
from tvm_pulp.codegen import mlf
from tvm_pulp.codegen.c_expression import c_type
from tvm_pulp.soc.cpu import Cpu
from tvm_pulp.toolchain.cpu_flags import CPU_FLAGS, ENTRY, WARNINGS
from tvm_pulp.toolchain.project.build_archive import FLAGS, include_folders
from tvm_pulp.toolchain.project.template import template
from tvm_pulp.toolchain.riscv_compilers import FREESTANDING_FLAGS, RISCV_ISAS

_HOST_FLAGS = ("-O2", "-std=gnu11", "-ffp-contract=off", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror")
_EXAMPLE = "example/main.c"
_C_LIBRARY = "runtime/libc"


def project_files(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files to add to an archive that is complete otherwise."""
    record = mlf.metadata(dict(files))
    facts, name = record["tvm_pulp"], record["model_name"]
    made = {"README.md": _readme(record, files)}
    if "march" in facts:
        made |= {"CMakeLists.txt": _cluster_lists(name, facts, files)}
        if any(path.startswith(f"{mlf.FIRMWARE}/") for path in files):
            made[f"{mlf.FIRMWARE}/CMakeLists.txt"] = _firmware_lists(record, files)
        isa = RISCV_ISAS[facts["march"]]
        values = {
            "WHAT": f"bare-metal RISC-V ({isa.architecture}, {isa.abi})",
            "PROCESSOR": "riscv32",
            "LINK": "",
            "TARGET": " ".join(isa.zig),
            "ARCHITECTURE": isa.architecture,
            "ABI": isa.abi,
        }
        made |= {f"cmake/{tool}.cmake": template(f"{tool}.cmake.in", values) for tool in ("zig", "gcc")}
    elif (cpu := _cpu(facts)) is not None and _is_bare(cpu):
        made |= _cpu_project(name, cpu, facts, files)
    else:
        made[_EXAMPLE] = _example(name, facts)
        made["CMakeLists.txt"] = _host_lists(name, files, () if cpu is None else cpu.flags)
    return {path: text.encode() for path, text in made.items()}


def _cpu(facts: dict[str, Any]) -> Cpu | None:
    return socs.recorded(facts).cpu


def _is_bare(cpu: Cpu | None) -> bool:
    """Tell if a program without operating system is the archive's first use, not only an emulator's."""
    return cpu is not None and bool(cpu.hal) and not cpu.flags


def _sources(files: Mapping[str, bytes], facts: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Sources of the library in the order of their code, and those of a program that runs it."""
    aside = ("parameters", f"{mlf.FIRMWARE}/")
    paths = sorted(path for path in files if path.endswith((".c", ".S")) and not path.startswith(aside))
    ordered = [path for path in facts.get("code_order", []) if path in files]
    paths = [*ordered, *(path for path in paths if path not in ordered)]
    program = [
        p
        for p in paths
        if p.endswith(("_program.c", "_generation.c")) or (p.startswith("runtime/hal/") and "executor" not in p)
    ]
    return [p for p in paths if p not in program], program


def _includes(files: Mapping[str, bytes]) -> list[str]:
    """Folders that headers of the library are included from."""
    return include_folders(path for path in files if not path.startswith(f"{mlf.FIRMWARE}/"))


def _lines(items: Any) -> str:
    return "".join(f"\n  {item}" for item in items)


def _cpu_project(name: str, cpu: Cpu, facts: dict[str, Any], files: Mapping[str, bytes]) -> dict[str, str]:
    """The CMake file and the compiler of a program for a CPU without operating system."""
    what = {
        "WHAT": f"SoC {facts['soc']}",
        "PROCESSOR": cpu.machine,
        "TARGET": " ".join(cpu.zig),
        "LINK": f" -Wl,--entry={ENTRY}",
    }
    kept = [flag for flag in CPU_FLAGS if not flag.startswith(("-g", "-std"))]
    lists = _lists(name, facts, files, [], " ".join((*kept, *WARNINGS)))
    return {"CMakeLists.txt": lists, "cmake/zig.cmake": template("zig.cmake.in", what)}


def _cluster_lists(name: str, facts: dict[str, Any], files: Mapping[str, bytes]) -> str:
    defines = [f"TVM_PULP_CORES={facts['cores']}", *facts.get("defines", [])]
    return _lists(name, facts, files, defines, _cluster_flags(facts))


def _lists(name: str, facts: dict[str, Any], files: Mapping[str, bytes], defines: Sequence[str], flags: str) -> str:
    """The CMake file of a program without operating system."""
    library, program = _sources(files, facts)
    script = next(path for path in files if path.endswith(".ld"))
    values = {
        "NAME": name,
        "LIBRARY": _lines(library),
        "PROGRAM": _lines(program),
        "INCLUDES": _lines(_includes(files)),
        "DEFINES": _lines(defines),
        "FLAGS": flags,
        "SCRIPT": script,
    }
    return template("cluster.CMakeLists.txt.in", values)


def _cluster_flags(facts: dict[str, Any]) -> str:
    kept = [flag for flag in FREESTANDING_FLAGS if not flag.startswith(("-O", "-g", "-std"))]
    return " ".join((*FLAGS, *kept, *facts.get("flags", [])))


def _firmware_lists(record: dict[str, Any], files: Mapping[str, bytes]) -> str:
    """The same library and example with the SDK's calls, start-up and C library."""
    facts, name, levels = record["tvm_pulp"], record["model_name"], record["memory"]["levels"]
    library, program = _sources(files, facts)
    sources = [*library, *(path for path in program if path.endswith("_program.c"))]
    defines = [f"TVM_PULP_CORES={facts['cores']}", *facts.get("defines", []), f"TVM_PULP_ARENA_BYTES={levels['l1']}"]
    values = {
        "NAME": name,
        "SOURCES": _lines(f"../{path}" for path in sources if not path.startswith(_C_LIBRARY)),
        "INCLUDES": _lines(f"../{path}" for path in _includes(files) if path != _C_LIBRARY),
        "DEFINES": _lines([*defines, *(["TVM_PULP_BOARD_HAS_L3"] if levels["l3"] else [])]),
        # Headers of the SDK are not ours to complain about.
        "FLAGS": _cluster_flags(facts).replace(" -Werror", ""),
    }
    return template("firmware.CMakeLists.txt.in", values)


def _host_lists(name: str, files: Mapping[str, bytes], flags: Sequence[str]) -> str:
    library, _ = _sources(files, {})
    values = {
        "NAME": name,
        "LIBRARY": _lines(path for path in library if not path.startswith(_C_LIBRARY)),
        "INCLUDES": _lines(_includes(files)),
        "FLAGS": " ".join((*_HOST_FLAGS, *flags)),
        "EXAMPLE": _EXAMPLE,
    }
    return template("host.CMakeLists.txt.in", values)


def _example(name: str, facts: dict[str, Any]) -> str:
    """A program that reads inputs from standard input, runs the network and writes its outputs as text."""
    if "decoder" in facts:
        return template("decoder_main.c.in", {"NAME": name, "UPPER": name.upper()})
    buffers, reads, prints = [], [], []
    for role in ("inputs", "outputs"):
        for tensor in facts[role]:
            stem = f"TVMGEN_{name.upper()}_{role[:-1].upper()}_{tensor['member'].upper()}"
            buffers.append(f"static {c_type(tensor['dtype'])} {role}_{tensor['member']}[{stem}_ELEMENTS];")
    for tensor in facts["inputs"]:
        reads.append(f"  if (!read_bytes(inputs_{tensor['member']}, sizeof inputs_{tensor['member']})) return 1;")
    for tensor in facts["outputs"]:
        buffer = f"outputs_{tensor['member']}"
        prints += [
            f'  printf("{tensor["member"]}:");',
            f"  for (size_t i = 0; i < sizeof {buffer} / sizeof *{buffer}; ++i) {{",
            f'    printf(" %.9g", (double){buffer}[i]);',
            "  }",
            '  printf("\\n");',
        ]
    values = {
        "NAME": name,
        "BUFFERS": "\n".join(buffers),
        "READS": "\n".join(reads),
        "INPUTS": ", ".join(f"inputs_{t['member']}" for t in facts["inputs"]) or "0",
        "OUTPUTS": ", ".join(f"outputs_{t['member']}" for t in facts["outputs"]) or "0",
        "PRINTS": "\n".join(prints),
    }
    return template("host_main.c.in", values)


def _readme(record: dict[str, Any], files: Mapping[str, bytes]) -> str:
    facts, name, memory = record["tvm_pulp"], record["model_name"], record["memory"]
    rows = [
        f"| {role[:-1]} | `{t['member']}` | {t['dtype']} | {'x'.join(map(str, t['shape'])) or 'one'} | {_meaning(t)} |"
        for role in ("inputs", "outputs")
        for t in facts[role]
    ]
    levels = memory.get("levels", {"arena": memory["arena_bytes"], "constants": memory["constants_bytes"]})
    kind = "cluster" if "march" in facts else "cpu" if _is_bare(_cpu(facts)) else "host"
    values = {
        "NAME": name,
        "TARGET": facts["target"],
        "SOC": facts["soc"],
        "LAYERS": str(len(facts.get("layers", []))),
        "MACS": f"{facts.get('macs', 0):,}",
        "TENSORS": "\n".join(rows),
        "MEMORIES": "\n".join(f"| {level} | {size:,} |" for level, size in levels.items()),
    }
    return template(f"{kind}.README.md.in", values)


def _meaning(tensor: dict[str, Any]) -> str:
    if "scale" not in tensor:
        return "as the model has it"
    return f"{tensor['scale']:.9g} * (integer - {tensor['zero_point']})"
