"""No `asm` statement of an archive has more operands than GNU's compiler takes; asked without that compiler."""

from pathlib import Path

import pytest

from tests.kernels.asm_operands import LIMIT, operands, preprocessed, statements
from tests.kernels.call import REPOSITORY, RUNTIME

HAL = RUNTIME / "hal"
FAMILIES = {"xpulp": "siracusa", "tiles": "pool", "rv32": "mcu", "rv32im": "snitch", "generic": "siracusa"}


def includes(hal: str) -> list[Path]:
    folders = [RUNTIME / "include", RUNTIME / "kernels/include", RUNTIME / "libc"]
    return [*folders, *(path for part in (HAL / hal, HAL / "shared") for path in (part / "include", part))]


def counts(source: Path, hal: str) -> list[int]:
    return [operands(statement) for statement in statements(preprocessed(source, includes(hal)))]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('__asm__ volatile("nop");', 0),
        ('__asm__("lw %0,0(%1)" : "=r"(d) : "r"(at[i, 2]) : "memory");', 2),
        ('__asm__("a:,b" : [x] "+r"(x), [y] "=&r"(f(y, (z))) : [n] "r"(a ? b : c), "i"(4) : "memory", "a0");', 5),
        ('asm goto("j %l0" : : "r"(x) : : there);', 2),
    ],
)
def test_operands_are_counted_as_gnu_does(text: str, count: int) -> None:
    assert [operands(statement) for statement in statements(f"void f(void) {{ {text} }}")] == [count]


@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_keep_the_limit(family: str) -> None:
    sources = sorted((RUNTIME / "kernels" / family).glob("*.c"))
    largest = {source.name: max(counts(source, FAMILIES[family]), default=0) for source in sources}
    assert {name: count for name, count in largest.items() if count > LIMIT} == {}
    # The loops that use all registers are there: nothing was lost on the way through the preprocessor.
    assert family != "xpulp" or max(largest.values()) >= LIMIT - 2


@pytest.mark.parametrize("hal", ["siracusa", "pool", "snitch", "mcu"])
def test_runtimes_keep_the_limit(hal: str) -> None:
    sources = [*sorted((HAL / hal).glob("*.c")), *sorted((HAL / "shared").glob("*.c"))]
    drivers = sorted(REPOSITORY.glob("uma_backends/*/driver/*.c")) if hal == "siracusa" else []
    for source in (*sources, *(path for path in drivers if "__asm__" in path.read_text())):
        assert max(counts(source, hal), default=0) <= LIMIT, source
