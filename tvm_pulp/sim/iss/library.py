"""Locate the simulator's shared object, open it with ctypes and declare its functions."""

import ctypes
import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.toolchain import Compiler, ToolchainError, compile_objects, host_compiler, link_objects

VERSION = 3
# What was said to be built.
_SAID: set[str] = set()
_LOCK = threading.Lock()
# enum trace_kind of c_runtime/iss/trace.h
ACTIVE, ASLEEP, DMA, PERIPHERAL, L3, TILE, MARK, ENTER, LEAVE = range(9)


class Fault(ctypes.Structure):
    """`struct iss_fault`."""

    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("core", ctypes.c_int32),
        ("pc", ctypes.c_uint32),
        ("word", ctypes.c_uint32),
        ("address", ctypes.c_uint32),
        ("text", ctypes.c_char * 400),
    ]


class Span(ctypes.Structure):
    """`struct trace_span` of c_runtime/iss/trace.h."""

    _fields_ = [
        ("start", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("kind", ctypes.c_uint32),
        ("track", ctypes.c_uint32),
        ("amount", ctypes.c_uint64),
    ]


class Stop(ctypes.Structure):
    """`struct iss_stop`."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("reason", "core", "address")]


CAUSES = 8


class TraceRecord(ctypes.Structure):
    """`struct trace_record` of c_runtime/iss/trace.h."""

    _fields_ = [("span", Span), ("causes", ctypes.c_uint64 * CAUSES)]


class CallNode(ctypes.Structure):
    """`struct call_node` of c_runtime/iss/calls.h."""

    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("parent", "function", "child", "sibling")),
        ("cycles", ctypes.c_uint64 * CAUSES),
    ]


class UnwrittenRead(ctypes.Structure):
    """`struct unwritten_read` of c_runtime/iss/written.h."""

    _fields_ = [
        ("cycle", ctypes.c_uint64),
        ("agent", ctypes.c_int32),
        ("address", ctypes.c_uint32),
        ("bytes", ctypes.c_uint32),
        ("pc", ctypes.c_uint32),
    ]


Sink = ctypes.CFUNCTYPE(None, ctypes.POINTER(TraceRecord), ctypes.c_uint32)


class PeripheralStatistics(ctypes.Structure):
    """`struct tvm_pulp_peripheral_statistics`."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("jobs", "busy_cycles", "macs", "l1_bytes", "weight_bytes")]


_P, _U32, _U64, _I, _S, _Z = (
    ctypes.c_void_p,
    ctypes.c_uint32,
    ctypes.c_uint64,
    ctypes.c_int,
    ctypes.c_char_p,
    ctypes.c_size_t,
)
_NAMES, _VALUES = ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_int64)

# function -> result, arguments; as in c_runtime/iss/iss.h
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "iss_version": (_U32, []),
    "iss_create": (_P, [_NAMES, _VALUES, _Z, _S, _Z]),
    "iss_destroy": (None, [_P]),
    "iss_read": (_I, [_P, _U32, _S, _U64]),
    "iss_write": (_I, [_P, _U32, _S, _U64]),
    "iss_l3": (_I, [_P, _U32, _S, _U64, _I]),
    "iss_add_peripheral": (_I, [_P, _S, _U32, _U32, _I, _NAMES, _VALUES, _Z, _S, _Z]),
    "iss_set_host_words": (_I, [_P, _U32, _U32]),
    "iss_start": (_I, [_P, _U32, _U32]),
    "iss_get_register": (_U32, [_P, _U32, _U32]),
    "iss_set_register": (_I, [_P, _U32, _U32, _U32]),
    "iss_run": (_I, [_P, _U64]),
    "iss_exit_code": (_U32, [_P]),
    "iss_cycles": (_U64, [_P]),
    "iss_fault": (None, [_P, ctypes.POINTER(Fault)]),
    "iss_output": (_Z, [_P, ctypes.POINTER(_P)]),
    "iss_core_counter_name": (_S, [_U32]),
    "iss_core_counters": (None, [_P, _U32, ctypes.POINTER(_U64)]),
    "iss_system_counter_name": (_S, [_U32]),
    "iss_system_counters": (None, [_P, ctypes.POINTER(_U64)]),
    "iss_peripheral_count": (_U32, [_P]),
    "iss_peripheral": (_S, [_P, _U32, ctypes.POINTER(PeripheralStatistics)]),
    "iss_first_race": (_S, [_P]),
    "iss_trace": (_U64, [_P, ctypes.POINTER(ctypes.POINTER(Span))]),
    "iss_trace_is_complete": (_I, [_P]),
    "iss_set_break": (_I, [_P, _U32, _I]),
    "iss_watch": (_I, [_P, _U32, _U32, _U32]),
    "iss_unwatch": (_I, [_P, _U32, _U32, _U32]),
    "iss_step": (_I, [_P, _U32]),
    "iss_interrupt": (None, [_P]),
    "iss_stop": (None, [_P, ctypes.POINTER(Stop)]),
    "iss_core_state": (_U32, [_P, _U32]),
    "iss_core_cycle": (_U64, [_P, _U32]),
    "iss_register_space": (_I, [_P, _U32, ctypes.POINTER(_U32), ctypes.POINTER(_U32)]),
    "iss_last_written": (_I, [_P, _U32, ctypes.POINTER(_U32)]),
    "iss_follow_calls": (_I, [_P, ctypes.POINTER(_U32), _U32, _U32, _I]),
    "iss_call_nodes": (_U32, [_P, ctypes.POINTER(ctypes.POINTER(CallNode))]),
    "iss_cause_name": (_S, [_U32]),
    "iss_undefine": (_I, [_P, _U32, _U64]),
    "iss_unwritten_reads": (_U64, [_P, ctypes.POINTER(ctypes.POINTER(UnwrittenRead))]),
    "iss_stream": (_I, [_P, Sink]),
}


def package_folder(package: str) -> Path | None:
    """The folder of an importable package, without importing it."""
    spec = importlib.util.find_spec(package)
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def installed_extension(name: str, sources: Iterable[Path]) -> Path | None:
    """The compiled extension of that name, unless it is absent or older than one of its sources in a source tree."""
    spec = importlib.util.find_spec(name)
    built = Path(spec.origin) if spec is not None and spec.origin is not None else None
    # What a wheel brings belongs together, in whatever order its files were written.
    if built is None or not (built.parent.parent / "setup.py").is_file():
        return built
    newest = max((path.stat().st_mtime for path in sources), default=0.0)
    return built if built.stat().st_mtime >= newest else None


@dataclass(frozen=True)
class _Announced(Compiler):
    """A compiler that says what it builds, once; nothing where all of it is in the cache."""

    what: str = ""

    def run(self, arguments: Sequence[str]) -> None:
        with _LOCK:
            if self.what not in _SAID:
                _SAID.add(self.what)
                sys.stderr.write(f"tvm_pulp: building {self.what} for this machine, once, with {self.name}\n")
                sys.stderr.flush()
        super().run(arguments)


def build_shared_object(name: str, sources: Sequence[Path], include: Sequence[Path], *flags: str) -> Path:
    """Compile `sources` for this machine to a file in the build cache; `name` is for the error message."""
    compiler = _Announced(**vars(replace(host_compiler(), libraries=("-lm",))), what=name)
    try:
        objects = compile_objects(sources, include, ["-fPIC", "-std=gnu11", *flags], compiler)
        return link_objects(objects, ["-shared"], compiler, suffix=".so")
    except ToolchainError as error:
        raise UserError(
            f"cannot build {name} with `{' '.join(compiler.command)}`: {error.reason}; install a C compiler or ziglang"
        ) from None


def _sources() -> tuple[list[Path], list[Path]]:
    runtime = package_folder("c_runtime")
    if runtime is None or not (runtime / "iss").is_dir():
        return [], []
    files = sorted(path for path in (runtime / "iss").glob("*.c") if path.name != "module.c")
    return files, [runtime / "iss", runtime / "include"]


def find_library() -> Path:
    """The compiled extension, or a fresh build of its sources when it is absent or older than they are.

    The environment variable TVM_PULP_ISS_LIBRARY names a library to use instead (a sanitizer build, say).
    """
    override = os.environ.get("TVM_PULP_ISS_LIBRARY")
    if override:
        return Path(override)
    files, include = _sources()
    built = installed_extension("tvm_pulp._iss", (path for folder in include for path in folder.rglob("*.[ch]")))
    if built is not None:
        return built
    refuse_if(not files, "the simulator is not installed: reinstall tvm_pulp with a C compiler or with ziglang")
    return build_shared_object("the simulator", files, include, "-fvisibility=hidden")


@functools.cache
def library() -> ctypes.CDLL:
    """The simulator, opened once per process."""
    path = find_library()
    try:
        opened = ctypes.CDLL(str(path))
    except OSError as error:
        raise UserError(f"cannot open the simulator {path}: {error}; reinstall tvm_pulp") from None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(opened, name)
        function.restype, function.argtypes = result, arguments
    refuse_if(
        opened.iss_version() != VERSION,
        f"the simulator {path} belongs to another version of tvm_pulp: reinstall tvm_pulp",
    )
    return opened
