"""Ctrl-C: one line and status 130 within a second, whatever runs, and no child left; SIGTERM likewise, with 143.

Python raises KeyboardInterrupt when it executes the next instruction of its own, which a solver or a simulator can put
off for long. So a thread hears of the signal too, waits for the orderly end, and ends the process where none comes.
"""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

from tvm_pulp.child_processes import descendants

STATUS = 130
# The orderly end removes temporary folders and waits for children: let it, unless it takes longer.
_SECONDS = 0.6
# Signals that end a process without a word where nobody listens.
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """Somebody ended the process by a signal; it leaves as if the user had interrupted it."""


def _terminate(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated


@contextmanager
def interruptible(message: str, terminated: str = "terminated") -> Iterator[None]:
    """Print the message and leave with 130 where the user interrupts what is inside, with 143 where it is ended."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are not ours
        return
    over = threading.Event()
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    said = {signal.SIGINT: (message, STATUS)} | dict.fromkeys(_ENDING, (terminated, 128 + signal.SIGTERM))
    # Who starts us may want that one of them is not heard, as nohup does.
    heard = [end for end in _ENDING if signal.getsignal(end) is signal.SIG_DFL]
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        threading.Thread(target=_watch, args=(reader, over, said), daemon=True).start()
        for end in heard:
            signal.signal(end, _terminate)
        yield
    except KeyboardInterrupt as error:
        # Python ends itself by the signal where the exception passed through code made of a text, as dataclasses are
        # made; it forgets that when such code runs to its end.
        exec("pass")
        over.set()
        _refuse_lack_of_threads()
        text, status = said[signal.SIGTERM if isinstance(error, Terminated) else signal.SIGINT]
        with suppress(OSError):
            print(text, file=sys.stderr)
        raise SystemExit(status) from None
    finally:
        over.set()
        for end in heard:
            signal.signal(end, signal.SIG_DFL)
        signal.set_wakeup_fd(before)
        os.close(writer)


def _refuse_lack_of_threads() -> None:
    """Raise where there is no room for a thread: numpy's library interrupts the process when it finds none."""
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _watch(reader: int, over: threading.Event, said: Mapping[int, tuple[str, int]]) -> None:
    """Read numbers of signals until the other end is closed."""
    with open(reader, "rb", buffering=0) as signals:
        while byte := signals.read(1):
            if byte[0] not in said or over.wait(_SECONDS):
                continue
            text, status = said[byte[0]]
            with suppress(OSError):
                print(text, file=sys.stderr, flush=True)
            for child in descendants(os.getpid()):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            atexit._run_exitfuncs()  # temporary folders
            os._exit(status)
