"""Change: an engine's own rounding in place of the framework's."""

from dataclasses import replace
from typing import Any

from tvm_pulp.compilation import Compilation
from tvm_pulp.explain.suggestions.base import Change, cycles_of


def inexact_rounding(base: Compilation) -> Change | None:
    """Of the first engine that has an option for it which was not taken."""
    for backend, chosen in base.target.engines:
        for attribute in backend.attributes.values():
            if attribute.inexact is None or chosen[attribute.name] == attribute.inexact:
                continue
            engine, name, value = backend.target_name, attribute.name, attribute.inexact

            def with_it(found: Compilation, engine: str = engine, name: str = name, value: Any = value) -> Compilation:
                known = found.options.engine_options
                stated = {**known, engine: {**known.get(engine, {}), name: value}}
                return found.varied(options=replace(found.options, engine_options=stated))

            there = cycles_of(base, lambda layer, engine=engine: engine in layer.engine)  # type: ignore[misc]
            return Change(
                "inexact-rounding",
                f"--target-uma-{engine}-{name} {value}: results deviate where `tvmc run` reports it",
                there or cycles_of(base, lambda layer: True),  # without it nothing may run there
                with_it,
            )
    return None
