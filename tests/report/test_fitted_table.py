"""Tables fit their terminal: every layer and every figure is there, whole, at any width."""

import io
import os
import pty
import re
import struct
import termios
from fcntl import ioctl

import pytest

from tvm_pulp.report.fitted_table import blocks, print_fitted, print_wrapped, shortened

COLUMNS = (
    "layer",
    "op",
    "engine",
    "cycles",
    "estimate",
    "bound",
    "MAC",
    "MAC/cycle",
    "DMA bytes",
    "DMA stall",
    "tiles",
)
NAMES = ["stem", "batch_normalization_2_FusedBatchNormV3_of_a_model", "stack3_shortcut"]
ROWS = [
    (name, "conv2d", "neureka", *(f"{1_234_567 * (row + 1) + column:,}" for column in range(8)))
    for row, name in enumerate(NAMES)
]


class Terminal(io.StringIO):
    """A terminal of some width."""

    def isatty(self) -> bool:
        return True


def printed(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    print_fitted("a title", COLUMNS, ROWS, 3, stream)
    # Colours and bold letters take no room.
    return re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()).splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 132, 200])
def test_nothing_is_cut_and_nothing_is_wider(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(width, monkeypatch)
    assert max(len(line) for line in lines) <= width
    text = "\n".join(lines)
    for row in ROWS:
        for figure in row[3:]:
            assert re.search(rf"(?<![\d,]){figure}(?![\d,…])", text), figure
    for column in COLUMNS:
        assert re.search(rf"┃ +{column} +┃", text)
    # Each table has all layers, in order, each with a name that tells it from the others.
    tables = text.count("┃ layer ")
    assert tables == text.count("│ stem ") == text.count("│ stack3_shortcut ") == text.count("_of_a_model ")


def test_what_has_room_is_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(printed(200, monkeypatch))
    assert text.count("┏") == 1 and NAMES[1] in text and "continued" not in text


def test_a_file_gets_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    print_fitted("a title", COLUMNS, ROWS, 3, stream)
    assert stream.getvalue().count("┏") == 1 and NAMES[1] in stream.getvalue()


def test_the_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with os.fdopen(follower, "w") as stream:
        print_wrapped(" ".join(["word"] * 40), stream)
        stream.flush()
        lines = os.read(leader, 4096).decode().splitlines()
    os.close(leader)
    assert [len(line) for line in lines] == [79, 79, 39]


def test_a_column_that_is_too_wide_stands_alone() -> None:
    assert blocks([10, 5, 200, 5], 40) == [[0, 1], [0, 2], [0, 3]]
    assert blocks([10, 5, 200, 5], None) == [[0, 1, 2, 3]]


def test_names_keep_both_ends() -> None:
    assert shortened("abcdefghijklmnop", 16) == "abcdefghijklmnop"
    assert shortened("abcdefghijklmnop", 10) == "abc…klmnop"
