"""Zip archives of model files, read as data: members by name, in sizes that are plausible, nothing unpacked to disk."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tvm_pulp.errors import UserError, refuse_if
from tvm_pulp.frontend.limits import LARGEST_CONSTANTS

# All members together, before anything is unpacked.
LARGEST_TOTAL = 4 * LARGEST_CONSTANTS
_ENCRYPTED = 1


class ZipMembers:
    """Members of an archive by their names, which are distinct."""

    def __init__(self, archive: zipfile.ZipFile, what: str, most: int) -> None:
        self._archive = archive
        listed = archive.infolist()
        refuse_if(len(listed) > most, f"{what} holds {len(listed)} files: no model does")
        self.sizes = {member.filename: member.file_size for member in listed}
        total = sum(member.file_size for member in listed)
        refuse_if(total > LARGEST_TOTAL, f"{what} unpacks to {total >> 20} MiB: it is not plausible here")
        # Two readers may take different ones of two members of a name.
        refuse_if(len(self.sizes) < len(listed), f"{what} holds two files of one name: write it again")
        refuse_if(any(m.flag_bits & _ENCRYPTED for m in listed), f"{what} is encrypted: write it again without")

    def read(self, name: str) -> bytes:
        """The bytes of a member; at most as many as `sizes` says."""
        return self._archive.read(name)


@contextmanager
def zip_members(source: Path | bytes, what: str, damaged: str, most: int) -> Iterator[ZipMembers]:
    """The members of an archive; the sentence `damaged` for what is none, also while its members are read."""
    if isinstance(source, Path):
        refuse_if(not source.is_file(), f"{what} is no regular file: give the model file itself")
    try:
        with zipfile.ZipFile(source if isinstance(source, Path) else io.BytesIO(source)) as archive:
            yield ZipMembers(archive, what, most)
    except UserError:
        raise
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError, RuntimeError, zlib.error, EOFError):
        raise UserError(damaged) from None
    except (ValueError, KeyError, OverflowError):  # what the zip library says of impossible fields
        raise UserError(damaged) from None
