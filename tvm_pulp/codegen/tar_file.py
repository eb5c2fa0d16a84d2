"""Files of a tar archive, as we write it or as `tar` packs it again: regular files below one folder, nothing else.

Python's `tarfile` follows links, expands sparse files and recurses for headers of headers; none of this is in an
archive of ours, and here it is refused before anything is made of it.
"""

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from typing import Any

from tvm_pulp.errors import refuse_if
from tvm_pulp.limits import ARCHIVE_BYTES, ARCHIVE_FILES, EXPANSION, LONGEST_NAME, UNPACKED_BYTES, most_unpacked

_BLOCK = 512
_PIECE = 1 << 20
# Type flags of headers: files, folders, and headers that tell more of the next one.
_FILES, _FOLDER, _LONG_NAME, _EXTENDED, _GLOBAL = (b"0", b"\0", b"7"), b"5", b"L", b"x", b"g"
_OTHERS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"S": "a sparse file",
}
# Dictionaries of `xz -9` are 64 MiB.
_XZ_MEMORY = 1 << 27
_KNOWN_CHARACTERS = re.compile(r"[^\x00-\x1f\x7f\\\"]+")


class DamagedArchive(ValueError):
    """The bytes are no archive: why, in a few words."""


def read_tar(packed: bytes) -> dict[str, bytes]:
    """Files by their names; DamagedArchive, or a user error where a limit is exceeded."""
    content = _unpacked(packed)
    files: dict[str, bytes] = {}
    total = 0
    for name, data in _members(memoryview(content)):
        if name in files:
            raise DamagedArchive(f"'{name}' is in it twice")
        total += len(data)
        files[name] = bytes(data)
        ARCHIVE_FILES.check(len(files), "the archive holds")
    folders = {folder for name in files for folder in _above(name)}
    both = sorted(folders & files.keys())
    if both:
        raise DamagedArchive(f"'{both[0]}' is a file, and files lie below it")
    return files


def _above(name: str) -> Iterator[str]:
    parts = name.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _unpacked(content: bytes) -> bytes | bytearray:
    """The archive without compression, which must not make too much of it."""
    most = min(most_unpacked(len(content)), ARCHIVE_BYTES.most)
    try:
        if content.startswith(b"\xfd7zXZ\0"):
            found = _of_xz(content, most + 1)
        elif content.startswith((b"\x1f\x8b", b"BZh")):
            stream: Any = io.BytesIO(content)
            opened: Any = gzip.GzipFile(fileobj=stream) if content[:1] == b"\x1f" else bz2.BZ2File(stream)
            found = _of_stream(opened, most + 1)
        else:
            return content
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise DamagedArchive(f"its compression: {error}") from None
    limit = EXPANSION if most < ARCHIVE_BYTES.most else ARCHIVE_BYTES
    refuse_if(
        len(found) > most,
        f"the archive of {len(content):,} bytes unpacks to more than {most:,} "
        f"({UNPACKED_BYTES.name}, {EXPANSION.name}, {ARCHIVE_BYTES.name}): {limit.way_out()}",
    )
    return found


def _of_stream(stream: Any, most: int) -> bytearray:
    found = bytearray()
    while len(found) < most and (piece := stream.read(min(_PIECE, most - len(found)))):
        found += piece
    return found


def _of_xz(content: bytes, most: int) -> bytearray:
    found, rest = bytearray(), content
    while rest and len(found) < most:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
        while len(found) < most and not decompressor.eof:
            piece = decompressor.decompress(rest, min(_PIECE, most - len(found)))
            if not piece and not rest and not decompressor.eof:
                raise DamagedArchive("it ends too early")
            found += piece
            rest = b""
        # Padding between streams is zeros.
        rest = decompressor.unused_data.lstrip(b"\0")
    return found


def _members(content: memoryview) -> Iterator[tuple[str, memoryview]]:
    """Names and contents of files in their order."""
    place, told = 0, dict[str, str]()
    while place + _BLOCK <= len(content):
        header = bytes(content[place : place + _BLOCK])
        place += _BLOCK
        if not any(header):
            return
        _check_sum(header)
        size = _number(header[124:136])
        data = content[place : place + size]
        if len(data) != size:
            raise DamagedArchive("it ends too early")
        place += -(-size // _BLOCK) * _BLOCK
        kind = header[156:157]
        if kind == _LONG_NAME:
            told["path"] = _text(bytes(data[: 4 * LONGEST_NAME]))
        elif kind == _EXTENDED:
            told |= _records(bytes(data))
        elif kind != _GLOBAL:
            name = told.get("path") or _name(header)
            if "size" in told or any(key.startswith("GNU.sparse") for key in told):
                raise DamagedArchive(f"'{_shown(name)}' is a sparse file, or one that no header has room for")
            told = {}
            if kind == _FOLDER or (kind == b"\0" and name.endswith("/")):
                continue
            if kind not in _FILES:
                raise DamagedArchive(f"'{_shown(name)}' is {_OTHERS.get(kind, 'no file')}")
            yield _checked(name), data
    # Blocks of zeros end an archive: without them files may be missing.
    raise DamagedArchive("it ends too early" if place else "it is no tar file")


def _check_sum(header: bytes) -> None:
    stated = _number(header[148:156])
    if sum(header[:148]) + 8 * ord(" ") + sum(header[156:]) != stated:
        raise DamagedArchive("it is no tar file, or damaged")


def _number(field: bytes) -> int:
    """Octal digits between blanks; the binary form for more than 8 GiB is no archive of ours."""
    text = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]*", text):
        raise DamagedArchive("it is no tar file, or damaged")
    return int(text or b"0", 8)


def _name(header: bytes) -> str:
    name, prefix = _text(header[:100]), _text(header[345:500])
    # GNU's form has other things in the place of the prefix.
    return f"{prefix}/{name}" if prefix and header[257:263] == b"ustar\0" else name


def _text(field: bytes) -> str:
    try:
        return field.split(b"\0", 1)[0].decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedArchive("the name of a file in it is no text in UTF-8") from None


def _records(data: bytes) -> dict[str, str]:
    """Keys and values of an extended header: `LENGTH KEY=VALUE`, a line each."""
    found, place = {}, 0
    while place < len(data):
        match = re.match(rb"([1-9][0-9]{0,8}) ([^=\n]+)=", data[place : place + 300])
        end = place + int(match[1]) if match else 0
        if match is None or not place + match.end() < end <= len(data):
            raise DamagedArchive("a header in it")
        found[_text(match[2])] = _text(data[place + match.end() : end - 1])
        place = end
    return found


def _checked(name: str) -> str:
    """The name of a file below the archive's folder."""
    inner = name.removeprefix("./")
    too_long = len(inner.encode()) > LONGEST_NAME
    if too_long or not _KNOWN_CHARACTERS.fullmatch(inner) or any(p in ("", ".", "..") for p in inner.split("/")):
        raise DamagedArchive(f"'{_shown(name)}' is no name of a file inside of it")
    return inner


def _shown(name: str) -> str:
    clean = "".join(c if c.isprintable() else "?" for c in name)
    return clean if len(clean) <= 60 else f"{clean[:57]}..."
