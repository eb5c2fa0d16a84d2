"""Ctrl-C: one line and status 130 within a second, whatever runs, and no child left.

Python raises KeyboardInterrupt when it executes the next instruction of its own, which a solver or a simulator can put
off for long. So a thread hears of the signal too, waits for the orderly end, and ends the process where none comes.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS = 130
# The orderly end removes temporary folders and waits for children: let it, unless it takes longer.
_SECONDS = 0.6


@contextmanager
def interruptible(message: str) -> Iterator[None]:
    """Print the message and leave with 130 where the user interrupts what is inside."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not ours
        return
    over = threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader, over, message), daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        # Python ends itself by the signal where the exception passed through code made of a text, as dataclasses are
        # made; it forgets that when such code runs to its end.
        exec("pass")
        over.set()
        print(message, file=sys.stderr)
        raise SystemExit(STATUS) from None
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        os.close(writer)


def _watch(reader: int, over: threading.Event, message: str) -> None:
    """Read numbers of signals until the other end is closed."""
    with open(reader, "rb", buffering=0) as signals:
        while byte := signals.read(1):
            if byte[0] != signal.SIGINT or over.wait(_SECONDS):
                continue
            print(message, file=sys.stderr, flush=True)
            for child in _children(os.getpid()):
                os.kill(child, signal.SIGKILL)
            atexit._run_exitfuncs()  # temporary folders
            os._exit(STATUS)


def _children(parent: int) -> list[int]:
    """All processes that a process has started, and theirs."""
    found = []
    for path in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in map(int, path.read_text(encoding="ascii").split()):
            found += [child, *_children(child)]
    return found
