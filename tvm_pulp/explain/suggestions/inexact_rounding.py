"""Change: an engine's own rounding in place of the framework's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvm_pulp.explain.suggestions.base import Base, Change, planned_cycles
from tvm_pulp.target import resolve_target


def inexact_rounding(base: Base) -> Change | None:
    """Of the first engine that has an option for it which was not taken."""
    for backend, chosen in resolve_target(base.options).engines:
        for attribute in backend.attributes.values():
            if attribute.inexact is None or chosen[attribute.name] == attribute.inexact:
                continue
            engine, name, value = backend.target_name, attribute.name, attribute.inexact

            def with_it(options: Any, engine: str = engine, name: str = name, value: Any = value) -> int:
                stated = {**options.engine_options, engine: {**options.engine_options.get(engine, {}), name: value}}
                return planned_cycles(replace(options, engine_options=stated), base.imported)

            return Change(
                "inexact-rounding",
                f"--target-uma-{engine}-{name} {value}: results deviate by a step where `tvmc run` reports it",
                base.cycles_of(lambda layer, engine=engine: engine in layer.engine),  # type: ignore[misc]
                with_it,
            )
    return None
