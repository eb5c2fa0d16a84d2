"""The common side of all C compilers of the toolchain: how to call them, and what they are."""

import errno
import functools
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp.errors import UserError
from tvm_pulp.machine_errors import said_reason, with_way_out
from tvm_pulp.temporary import TemporaryFolder
from tvm_pulp.toolchain.bounded_process import run_bounded
from tvm_pulp.toolchain.zig_caches import zig_caches


class ToolchainError(Exception):
    """A compiler refused C that we emitted or ship: a bug. Carries the command line and what the compiler said."""

    def __init__(self, command: Sequence[str], status: int, output: str) -> None:
        super().__init__(f"exit status {status} from: {shlex.join(command)}\n{output.strip()}")
        self.command = tuple(command)
        self.status = status
        self.output = output

    @property
    def reason(self) -> str:
        """The first error that the compiler tells."""
        lines = [line.strip() for line in self.output.splitlines()]
        return next((line for line in lines if "error" in line), lines[-1] if lines else f"status {self.status}")[:200]


@contextmanager
def build_of_archive() -> Iterator[None]:
    """A user error where an archive's C is refused: archives can be damaged, or of another version."""
    try:
        yield
    except ToolchainError as error:
        way_out = "compile the model again, and report it if that does not help"
        raise UserError(f"the archive's C does not build: {error.reason}; {way_out}") from error


@dataclass(frozen=True)
class Compiler:
    """A C compiler driver together with the flags that make it compile for one machine."""

    name: str
    """Short name as the user writes it: gcc, clang, zig."""
    command: tuple[str, ...]
    """How to start the driver."""
    version: str
    """First line of what the driver says about itself."""
    identity: str
    """Changes whenever the driver does; part of every cache key."""
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    """Link arguments that must follow the objects."""
    script_suffix: str = ""
    """Text to append to a linker script."""
    caches: Path | None = None
    """The folder of what zig keeps; None for other drivers."""

    def run(self, arguments: Sequence[str]) -> None:
        """Run the driver; a failure raises ToolchainError."""
        with _own_files() if self.caches is None else zig_caches(self.caches) as environment:
            _output([*self.command, *arguments], environment)


@contextmanager
def _own_files() -> Iterator[dict[str, str]]:
    """Variables by which a driver's temporary files are in a folder that somebody removes if it is killed."""
    with TemporaryFolder() as folder:
        yield {"TMPDIR": str(folder)}


def _output(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """All that a command says; ToolchainError where it fails."""
    status, text = run_bounded(command, environment)
    if status != 0:
        _refuse_machine_failure(Path(command[0]).name, status, text, environment)
        raise ToolchainError(command, status, text)
    return text


def _refuse_machine_failure(name: str, status: int, said: str, environment: Mapping[str, str]) -> None:
    """A user error where the machine, not the C, is why a compiler failed."""
    reason = said_reason(said)
    if reason is None and status < 0 and _is_disk_full(environment):
        reason = errno.ENOSPC
    if reason is not None:
        raise UserError(f"the C compiler {name} could not do its work: {with_way_out(reason)}")
    if status < 0 or _ENDED.search(said):
        number = f"signal {-status}" if status < 0 else "a signal"
        raise UserError(
            f"the C compiler {name} was ended by {number}: free memory and room on the disk, or raise the limits of "
            "this shell (`ulimit -a`)"
        )


# With less on the disk no compiler gets far; zig ends by a signal at some of the places where it finds none.
_LEAST_ROOM = 1 << 20


def _is_disk_full(environment: Mapping[str, str]) -> bool:
    """Tell if a folder that variables name for a compiler's files has no room."""
    folders = [path for value in environment.values() if (path := Path(value)).is_absolute() and path.is_dir()]
    return any(shutil.disk_usage(folder).free < _LEAST_ROOM for folder in folders)


# What a driver says whose own process was ended by the machine.
_ENDED = re.compile(r"(?:terminated|crashed) (?:with|by) signal|Killed signal terminated program|terminated abnormally")


@functools.cache
def describe_driver(command: tuple[str, ...], version_argument: str) -> tuple[str, str]:
    """Return (version, identity) of a driver; the identity covers its path, size, modification time and version text.

    `command` starts with the absolute path of an executable.
    """
    executable = Path(command[0]).resolve()
    status = executable.stat()
    text = _output([*command, version_argument], {}).strip()
    identity = "\n".join([*command, str(executable), str(status.st_size), str(status.st_mtime_ns), text])
    return text.splitlines()[0] if text else "", identity
