"""Arrays in `.npz` files: what a file would take is known before any of it is unpacked."""

import math
import zipfile
from typing import TYPE_CHECKING, BinaryIO

from tvm_pulp.limits import ARRAY_BYTES, ARRAYS, EXPANSION, most_unpacked

if TYPE_CHECKING:
    import numpy as np

_SUFFIX = ".npy"
_PIECE = 1 << 22


class UnreadableArrays(ValueError):
    """A file that `numpy.savez` does not write."""


def read_npz(stream: BinaryIO, packed: int, sentence: str) -> "list[tuple[str, np.ndarray]]":
    """Arrays in file order. `packed` are the file's bytes; where they hold too much, a user error says `sentence`."""
    try:
        with zipfile.ZipFile(stream) as archive:
            members = [entry for entry in archive.infolist() if not entry.is_dir()]
            check_members(members, packed, sentence)
            return [(entry.filename.removesuffix(_SUFFIX), _array(archive, entry)) for entry in members]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OverflowError, MemoryError) as error:
        raise UnreadableArrays(str(error)) from None


def check_members(members: "list[zipfile.ZipInfo]", packed: int, sentence: str) -> None:
    """Raise where files in a zip archive are too many or unpack to too much."""
    ARRAYS.check(len(members), f"{sentence}: it holds")
    total = sum(entry.file_size for entry in members)
    ARRAY_BYTES.check(total, f"{sentence}: it unpacks to")
    if total > most_unpacked(packed):
        EXPANSION.check(-(-total // max(packed, 1)), f"{sentence}: it unpacks to")


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> "np.ndarray":
    import numpy as np

    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read_header is None:
            raise UnreadableArrays(f"version {version}")
        shape, fortran_order, dtype = read_header(stream)
        # Rows of no bytes take no memory however many there are, and nothing here computes with them.
        if dtype.hasobject or not dtype.itemsize or any(extent < 0 for extent in shape):
            raise UnreadableArrays(f"values of {dtype}")
        size = math.prod(shape) * dtype.itemsize
        if size != entry.file_size - stream.tell():
            raise UnreadableArrays("more or fewer values than its header states")
        content = np.empty(size, np.uint8)
        for start in range(0, size, _PIECE):
            piece = stream.read(min(_PIECE, size - start))
            content[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
            if start + len(piece) != min(start + _PIECE, size):
                raise UnreadableArrays("it ends too early")
    found = content.view(dtype)
    return found.reshape(shape[::-1]).transpose() if fortran_order else found.reshape(shape)
