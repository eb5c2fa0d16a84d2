"""Configurations on many processes or machines, by Dask. A worker that dies costs its own rows only: they move."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tvm_pulp.dse.compiler_digest import compiler_digest
from tvm_pulp.dse.configuration import Configuration
from tvm_pulp.dse.evaluate import Evaluated, Record, evaluate, keep
from tvm_pulp.dse.frame import need
from tvm_pulp.dse.model import ModelContent
from tvm_pulp.dse.row_store import RowStore
from tvm_pulp.errors import UserError, refuse_if

_CONNECT_SECONDS = 15


@contextmanager
def open_client(workers: int, scheduler: Any = None) -> Iterator[Any]:
    """A client of a running scheduler (by address, or the client itself), or of as many local processes."""
    distributed = need("distributed", "a study on several processes")
    if isinstance(scheduler, distributed.Client):
        yield scheduler
        return
    if scheduler is not None:
        try:
            client = distributed.Client(str(scheduler), timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"--scheduler {scheduler}: no Dask scheduler answers there ({reason}): start one") from None
        with client:
            yield client
        return
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def evaluate_many(
    configurations: Sequence[Configuration], workers: int, scheduler: Any, simulate: bool, store: RowStore
) -> Iterator[tuple[int, Record]]:
    """Rows as they come, each with the position of its configuration."""
    if not configurations:
        return
    with open_client(workers, scheduler) as client:
        distributed = need("distributed", "a study on several processes")
        # Models travel once, under their digest. As results of tasks they can be made again when their holder dies.
        contents = {c.model.content.digest: c.model.content for c in configurations}
        held = {d: client.submit(_same, content, key=f"model-{d}") for d, content in contents.items()}
        positions = {}
        for position, configuration in enumerate(configurations):
            # A fresh record of the model: the one here may hold its bytes.
            light = replace(configuration, model=replace(configuration.model))
            content = held[configuration.model.content.digest]
            how = {"simulate": simulate, "compiler": compiler_digest(), "pure": False}
            future = client.submit(evaluate, light, content, store, **how)
            positions[future.key] = (position, future)
        for future in distributed.as_completed([future for _, future in positions.values()]):
            position = positions[future.key][0]
            yield position, _row(future, store)
            del positions[future.key]  # the scheduler forgets what nobody holds
            future.release()


def _row(future: Any, store: RowStore) -> Record:
    """The row of a task that is over; what was found out elsewhere is kept here as well."""
    refuse_if(
        future.status == "cancelled",
        "the connection to the Dask scheduler was lost: run the study again, it goes on where it was",
    )
    if future.status == "error":
        error = future.exception()
        if isinstance(error, UserError):
            raise error
        return {"error": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    done: Evaluated = future.result()
    keep(done, store)
    return done.row


def _same(content: ModelContent) -> ModelContent:
    return content
