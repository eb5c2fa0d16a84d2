"""Simulators of the user's own that a device or a plug-in needs: an option, a variable or the path names them."""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from tvm_pulp.errors import UserError


@dataclass(frozen=True)
class Installation(ABC):
    """A simulator that can be started; a subclass says where its executable lies."""

    named: Path | None
    """The folder that the user named; None where the path leads to the program."""
    program: Path
    simulator: ClassVar[str]
    executable: ClassVar[str]
    variable: ClassVar[str]
    places: ClassVar[tuple[str, ...]]
    """Of the executable, seen from the folder that the variable names."""
    absent: ClassVar[str]
    """The words on a folder that has none of the places."""
    advice: ClassVar[str]

    @classmethod
    def find(cls, options: Mapping[str, str], request: str, option: str = "--device-option home") -> Self:
        """The installation that the option, the variable or the path names; a user error that says where it looked."""
        looked: list[str] = []
        for origin, folder in ((option, options.get("home")), (f"${cls.variable}", os.environ.get(cls.variable))):
            home = Path(folder).expanduser() if folder else None
            for program in (home / place for place in cls.places if home is not None):
                if program.is_file():
                    return cls(home, program.resolve())
            looked.append(f"{origin} is {folder}, where {cls.absent}" if folder else f"{origin} is not set")
        on_path = shutil.which(cls.executable)
        if on_path is None:
            raise UserError(
                f"{request} needs an installation of {cls.simulator}, and there is none: {'; '.join(looked)}; PATH "
                f"has no {cls.executable}: {cls.advice} and set {cls.variable} or {option}=DIR"
            )
        return cls(None, Path(on_path).resolve())

    @property
    def prefix(self) -> Path:
        """The folder that holds `bin` and what belongs to it."""
        return self.program.parent.parent

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """The environment that it is started in."""

    @abstractmethod
    def revision(self) -> str | None:
        """The revision that decides about cycles; None where it cannot be told."""


class EtissInstallation(Installation):
    """An ETISS."""

    simulator, executable, variable = "ETISS", "bare_etiss_processor", "ETISS_HOME"
    places = tuple(f"{folder}/bare_etiss_processor" for folder in ("bin", "install/bin", "build/bin"))
    absent, advice = f"{', '.join(places)} are not", "build ETISS"

    def environment(self) -> dict[str, str]:
        """Its libraries are found."""
        folders = (str(self.prefix / "lib"), os.environ.get("LD_LIBRARY_PATH"))
        return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(filter(None, folders))}

    def revision(self) -> str | None:
        """The version that its CMake files state; None where they are not installed."""
        for path in sorted(self.prefix.glob("lib/CMake/ETISS/ETISSConfigVersion.cmake")):
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip().lower().startswith("set(package_version ") and '"' in line:
                    return f"etiss {line.split(chr(34))[1]}"
        return None
