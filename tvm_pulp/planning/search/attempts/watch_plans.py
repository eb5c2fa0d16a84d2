"""Lets a caller see every plan that is tried: a search takes a minute where networks are large."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tvm_pulp.planning.tiling.plan import Plan

Watcher = Callable[[Plan], None]

_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watch_plans(watcher: Watcher) -> Iterator[None]:
    """While this is open, `watcher` is told of every plan with its expected cycles. It decides nothing."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


def tell(plan: Plan) -> Plan:
    """Show a plan to whoever watches; returns it."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(plan)
    return plan
