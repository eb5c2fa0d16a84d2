"""`main` of a module to look at: what made a value, who reads it, what goes out."""

from typing import Any

from tvm import relax

from tvm_pulp.qnn import lineage


class MainFunction:
    """Definitions and readers by variable; those that only rename another one are seen through."""

    def __init__(self, module: Any) -> None:
        self.function = module["main"]
        self.bindings = lineage.bindings_of(self.function)
        self.made = {b.var: b.value for b in self.bindings}
        self.readers: dict[Any, list[Any]] = {}
        for binding in self.bindings:
            for variable in dict.fromkeys(lineage.variables_of(binding.value)):
                self.readers.setdefault(self.origin(variable), []).append(binding.value)

    def origin(self, value: Any) -> Any:
        """The variable or tuple that a variable is another name of."""
        while isinstance(self.made.get(value), relax.Var | relax.Tuple):
            value = self.made[value]
        return value

    def calls_reading(self, variable: Any) -> list[Any]:
        return [reader for reader in self.readers.get(variable, []) if isinstance(reader, relax.Call)]

    @property
    def results(self) -> list[Any]:
        """Returned values, one by one."""
        body = self.origin(self.function.body.body)
        fields = list(body.fields) if isinstance(body, relax.Tuple) else [body]
        return [self.origin(field) for field in fields]
