"""Two forms of a timeline on disk, written as it comes: Chrome's JSON and Perfetto's own protocol buffers.

Both have tracks with spans and counters. In JSON a microsecond stands for a cluster cycle, in protocol buffers a
nanosecond does.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from tvm_pulp.output_files import OutputFile

Arguments = Mapping[str, int]
_NO_ARGUMENTS: Arguments = {}


class TraceFile(Protocol):
    """A file for spans and counters. Tracks are numbers that `track` hands out."""

    def track(self, name: str, parent: int = 0, *, counter: bool = False) -> int:
        """A new track, below another."""

    def span(self, track: int, name: str, start: int, end: int, arguments: Arguments = _NO_ARGUMENTS) -> None:
        """Something that lasted; spans of one track come in order and do not overlap."""

    def count(self, track: int, cycle: int, value: int) -> None:
        """A counter's value from a cycle on."""

    def close(self) -> None:
        """The file is complete."""

    def discard(self) -> None:
        """Leave no file behind that was not closed."""


class ChromeFile:
    """The Chrome trace format: groups of tracks are processes."""

    def __init__(self, output: OutputFile, unit: str) -> None:
        self._output = output
        self._unit = unit
        self._tracks: dict[int, tuple[int, str]] = {}
        self._write = output.stream.write
        self._write(b'{"traceEvents": [\n{"ph": "M", "pid": 0, "tid": 0, "name": "process_name", "args": {"name": ""}}')

    def _put(self, event: Mapping[str, object]) -> None:
        self._write(b",\n" + json.dumps(event).encode())

    def track(self, name: str, parent: int = 0, *, counter: bool = False) -> int:
        number = len(self._tracks) + 1
        process = self._tracks[parent][0] if parent else number
        self._tracks[number] = (process, name)
        if not counter:
            kind = "thread_name" if parent else "process_name"
            self._put({"ph": "M", "pid": process, "tid": number, "name": kind, "args": {"name": name}})
        return number

    def span(self, track: int, name: str, start: int, end: int, arguments: Arguments = _NO_ARGUMENTS) -> None:
        event = {"ph": "X", "name": name, "pid": self._tracks[track][0], "tid": track, "ts": start, "dur": end - start}
        self._put(event | {"args": arguments})

    def count(self, track: int, cycle: int, value: int) -> None:
        process, name = self._tracks[track]
        self._put({"ph": "C", "name": name, "pid": process, "ts": cycle, "args": {"cycles": value}})

    def close(self) -> None:
        tail = json.dumps({"displayTimeUnit": "ns", "otherData": {"unit": self._unit}})
        self._write(b"\n], " + tail[1:].encode() + b"\n")
        self._output.commit()

    def discard(self) -> None:
        self._output.discard()


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


# Fields of TracePacket, TrackDescriptor, TrackEvent and DebugAnnotation in perfetto_trace.proto.
_TIMESTAMP, _SEQUENCE, _EVENT, _FLAGS, _DESCRIPTOR = 8, 10, 11, 13, 60
_UUID, _NAME, _PARENT, _COUNTER, _COUNTER_UNIT = 1, 2, 5, 8, 6
_ANNOTATION, _TYPE, _TRACK, _EVENT_NAME, _VALUE = 4, 9, 11, 23, 30
_ANNOTATION_NAME, _ANNOTATION_UINT = 10, 3
_BEGIN, _END, _COUNT = 1, 2, 4
_PACKET = 1


class PerfettoFile:
    """Perfetto's trace packets, of one writer."""

    def __init__(self, output: OutputFile) -> None:
        self._output = output
        self._write = output.stream.write
        self._count = 0
        self._sequence = _number(_SEQUENCE, 1)
        self._put(_number(_FLAGS, 1))
        self._heads: dict[tuple[int, int, str], bytes] = {}

    def _put(self, content: bytes) -> None:
        self._write(_bytes(_PACKET, content + self._sequence))

    def track(self, name: str, parent: int = 0, *, counter: bool = False) -> int:
        self._count += 1
        content = _number(_UUID, self._count) + _bytes(_NAME, name.encode())
        if parent:
            content += _number(_PARENT, parent)
        if counter:
            content += _bytes(_COUNTER, _bytes(_COUNTER_UNIT, b"cycles"))
        self._put(_bytes(_DESCRIPTOR, content))
        return self._count

    def _head(self, kind: int, track: int, name: str = "") -> bytes:
        """The part of an event that repeats."""
        found = self._heads.get((kind, track, name))
        if found is None:
            if len(self._heads) > 1 << 14:
                self._heads.clear()
            found = _number(_TYPE, kind) + _number(_TRACK, track)
            found += _bytes(_EVENT_NAME, name.encode()) if name else b""
            self._heads[kind, track, name] = found
        return found

    def span(self, track: int, name: str, start: int, end: int, arguments: Arguments = _NO_ARGUMENTS) -> None:
        content = self._head(_BEGIN, track, name)
        for key, value in arguments.items():
            annotation = _bytes(_ANNOTATION_NAME, key.encode()) + _number(_ANNOTATION_UINT, value)
            content += _bytes(_ANNOTATION, annotation)
        self._put(_number(_TIMESTAMP, start) + _bytes(_EVENT, content))
        self._put(_number(_TIMESTAMP, end) + _bytes(_EVENT, self._head(_END, track)))

    def count(self, track: int, cycle: int, value: int) -> None:
        content = self._head(_COUNT, track) + _number(_VALUE, value)
        self._put(_number(_TIMESTAMP, cycle) + _bytes(_EVENT, content))

    def close(self) -> None:
        self._output.commit()

    def discard(self) -> None:
        self._output.discard()


def open_trace(path: Path, unit: str) -> TraceFile:
    """A new file, which is there when it is closed; its name says in which form."""
    output = OutputFile(path)
    return ChromeFile(output, unit) if path.suffix == ".json" else PerfettoFile(output)
