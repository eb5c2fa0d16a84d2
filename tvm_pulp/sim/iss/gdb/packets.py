"""Packets of GDB's remote protocol: `$data#checksum`, acknowledged by `+` until both sides agree not to."""

import select
import socket

INTERRUPT = b"\x03"
LARGEST = 0x4000
_ESCAPED = b"#$}*"


class Closed(Exception):
    """The other side is gone."""


def frame(data: bytes) -> bytes:
    """A packet around `data`."""
    escaped = b"".join(bytes((0x7D, byte ^ 0x20)) if byte in _ESCAPED else bytes((byte,)) for byte in data)
    return b"$" + escaped + b"#%02x" % (sum(escaped) & 0xFF)


def unescape(data: bytes) -> bytes:
    """The contents of an escaped packet."""
    parts = data.split(b"}")
    return parts[0] + b"".join(bytes((part[0] ^ 0x20,)) + part[1:] for part in parts[1:] if part)


class Connection:
    """One debugger at the other end of a socket."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._buffer = b""
        self.acknowledge = True

    def fileno(self) -> int:
        """For select()."""
        return self._socket.fileno()

    def close(self) -> None:
        """End the conversation."""
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send one packet; what the other side says about it is read with the next one."""
        try:
            self._socket.sendall(frame(data))
        except OSError:
            raise Closed from None

    def receive(self) -> bytes:
        """The next packet, or INTERRUPT."""
        while True:
            found = self._take()
            if found is not None:
                return found
            self._fill()

    def interrupted(self) -> bool:
        """Tell if an interrupt has arrived; reads what is there and never waits."""
        while select.select([self], [], [], 0)[0]:
            self._fill()
        if not self._buffer.startswith(INTERRUPT):
            return False
        self._buffer = self._buffer[1:]
        return True

    def _fill(self) -> None:
        try:
            data = self._socket.recv(65536)
        except OSError:
            data = b""
        if not data or len(self._buffer) > 16 * LARGEST:
            raise Closed
        self._buffer += data

    def _take(self) -> bytes | None:
        self._buffer = self._buffer.lstrip(b"+-")
        if self._buffer.startswith(INTERRUPT):
            self._buffer = self._buffer[1:]
            return INTERRUPT
        start, end = self._buffer.find(b"$"), self._buffer.find(b"#")
        if end >= 0 and (start < 0 or end < start):  # rubbish
            self._buffer = self._buffer[end + 1 :]
            return self._take()
        if start < 0 or end < 0 or len(self._buffer) < end + 3:
            return None
        body, check = self._buffer[start + 1 : end], self._buffer[end + 1 : end + 3]
        self._buffer = self._buffer[end + 3 :]
        good = check.lower() == b"%02x" % (sum(body) & 0xFF)
        if self.acknowledge:
            try:
                self._socket.sendall(b"+" if good else b"-")
            except OSError:
                raise Closed from None
        return unescape(body) if good or not self.acknowledge else self._take()
