"""Programs of the user's own that a device or a plug-in needs: an option, a variable or the path names them."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tvm_pulp.errors import UserError


@dataclass(frozen=True)
class InstalledProgram:
    """A simulator's executable, and the places of it in the folder that the variable names."""

    simulator: str
    name: str
    variable: str
    places: tuple[str, ...]
    # The words on a folder that has none of the places, and the way to an installation.
    absent: str
    advice: str

    def find(self, options: Mapping[str, str], request: str, option: str) -> tuple[Path | None, Path]:
        """The folder that was named, None where the path was, and the program; a user error that says where it looked.

        `option` is the one that sets `home`.
        """
        looked: list[str] = []
        for origin, folder in ((option, options.get("home")), (f"${self.variable}", os.environ.get(self.variable))):
            home = Path(folder).expanduser() if folder else None
            for program in (home / place for place in self.places if home is not None):
                if program.is_file():
                    return home, program
            looked.append(f"{origin} is {folder}, where {self.absent}" if folder else f"{origin} is not set")
        on_path = shutil.which(self.name)
        if on_path is None:
            raise UserError(
                f"{request} needs an installation of {self.simulator}, and there is none: {'; '.join(looked)}; PATH "
                f"has no {self.name}: {self.advice} and set {self.variable} or {option}=DIR"
            )
        return None, Path(on_path).resolve()
