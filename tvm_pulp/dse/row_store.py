"""Records of a study on disk, by the content they come from: what is there is never made again."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvm_pulp.toolchain.cache import cached_file, known_file

_RECORD, _ARCHIVE = ".row.json", ".row.tar.gz"


@dataclass(frozen=True)
class RowStore:
    """A folder of records and archives; the build cache where none is given."""

    folder: Path | None = None

    def record(self, key: str) -> dict[str, Any] | None:
        """The record of a key, or None."""
        path = known_file(key, _RECORD, self.folder)
        if path is None:
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def keep_record(self, key: str, record: Mapping[str, Any]) -> None:
        """Keep a record; it appears whole or not at all."""

        cached_file(key, _RECORD, lambda place: place.write_text(json.dumps(record), encoding="utf-8"), self.folder)

    def archive(self, key: str) -> Path | None:
        """The compressed archive of a key, or None."""
        return known_file(key, _ARCHIVE, self.folder)

    def keep_archive(self, key: str, write: Callable[[Path], None]) -> None:
        """Keep what `write` writes, compressed: constants as C text shrink to a quarter."""

        def produce(place: Path) -> None:
            write(place)
            place.write_bytes(gzip.compress(place.read_bytes(), 1, mtime=0))

        cached_file(key, _ARCHIVE, produce, self.folder)
