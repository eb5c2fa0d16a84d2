"""A mutant by its number: file, edits and command follow from the seed, so that it can be made again."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.fuzz.formats.format import Format, Trial


@dataclass(frozen=True)
class Mutant:
    """One case of a campaign; `edits` are the places in its list of edits that are made."""

    format: Format
    seed: int
    number: int
    edits: tuple[int, ...] = field(default=())

    @classmethod
    def of(cls, format: Format, seed: int, number: int) -> "Mutant":
        """With all its edits; every 16th case has none, which tests the valid files among changed ones."""
        count = int(np.random.default_rng([seed, number, 0]).integers(1, format.edits + 1)) if number % 16 else 0
        return cls(format, seed, number, tuple(range(count)))

    def write(self, seeds: Sequence[Path], folder: Path) -> Trial:
        """The file, in a folder of its own beside an empty one for what a command writes."""
        chosen = seeds[self.number % len(seeds)]
        content = chosen.read_bytes()
        for place in self.edits:
            content = _edited(self.format, np.random.default_rng([self.seed, self.number, 1 + place]), content)
        trial = Trial(folder / f"mutant{chosen.suffix}", chosen, folder / "out")
        trial.out.mkdir(parents=True, exist_ok=True)
        trial.mutant.write_bytes(content)
        return trial

    def command(self, trial: Trial) -> list[str]:
        """The arguments of `tvmc`; the same whatever edits are left."""
        return self.format.command(np.random.default_rng([self.seed, self.number, 1 << 20]), trial)

    def without(self, place: int) -> "Mutant":
        """With one edit less."""
        return Mutant(self.format, self.seed, self.number, tuple(p for p in self.edits if p != place))

    @property
    def compared(self) -> bool:
        """Whether its results are compared with another implementation's, where both take it."""
        return bool(self.format.compare) and self.number % self.format.compare == 0

    def __str__(self) -> str:
        return f"{self.format.name} {self.number}"


def _edited(format: Format, rng: np.random.Generator, content: bytes) -> bytes:
    """The file after one edit; unchanged where earlier edits left nothing to change, or nothing that can be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return format.edit(rng, content)
    except Exception:  # libraries that edits read files with raise anything about damaged ones
        return content


def made_files(format: Format, folder: Path) -> Sequence[Path]:
    """Valid files of a format, in a folder of their own."""
    place = folder / format.name
    place.mkdir(parents=True, exist_ok=True)
    return format.seeds(place)
