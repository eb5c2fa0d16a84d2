"""p.elw (section 5.8) answers from the event unit and lets the core go on."""

import pytest

from . import rv32_encode as rv
from .builder import Builder
from .encode import i_type

EVENT_UNIT = 0x10204000
MASK_OR = 0x08
EVENT_WAIT = 0x38
SOFTWARE_EVENT = 0x100
BARRIER = 0x200
BARRIER_EVENT = 16


def device_store(builder: Builder, offset: int, value: int) -> None:
    """Store to the event unit, which the model does not have."""
    builder.constant(11, value)
    builder.fixed(f"sw x11, {offset:#x}(event unit)", rv.store("sw", 11, 10, offset), lambda state: None)


def event_load(builder: Builder, rd: int, offset: int, answer: int) -> None:
    word = i_type(0x03, 6, rd, 10, offset)
    builder.fixed(f"p.elw x{rd}, {offset:#x}(x10)", word, lambda state: state.set(rd, answer))


@pytest.mark.parametrize("event", range(8))
@pytest.mark.parametrize("core", [0, 5])
def test_pending_software_event_is_returned(event: int, core: int) -> None:
    builder = Builder()
    builder.constant(10, EVENT_UNIT)
    device_store(builder, MASK_OR, 1 << event)
    device_store(builder, SOFTWARE_EVENT + 4 * event, 1 << core)
    event_load(builder, 12, EVENT_WAIT, 1 << event)
    builder.record(12, "masked event buffer")
    builder.record(10, "base register")
    assert list(builder.differences(core=core)) == []


def test_barrier_of_one_core_opens() -> None:
    builder = Builder()
    builder.constant(10, EVENT_UNIT)
    builder.constant(13, 1)
    device_store(builder, MASK_OR, 1 << BARRIER_EVENT)
    device_store(builder, BARRIER + 0x00, 1)
    device_store(builder, BARRIER + 0x0C, 1)
    event_load(builder, 0, BARRIER + 0x1C, 0)
    builder.addi(13, 13, 1)
    builder.record(13, "x13 after the barrier")
    assert list(builder.differences()) == []
