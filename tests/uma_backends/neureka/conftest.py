"""Fixtures of the NEUREKA tests."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.uma_backends.flat_machine import Machine, ModelLibrary

from .golden_vector import NAMES, GoldenVector


@pytest.fixture(scope="session")
def library() -> ModelLibrary:
    """The C model with its flat memory system."""
    return ModelLibrary.build("neureka")


@pytest.fixture
def machine(library: ModelLibrary) -> Iterator[Machine]:
    """A NEUREKA with default parameters."""
    with Machine(library) as machine:
        yield machine


@pytest.fixture
def make_machine(library: ModelLibrary) -> Iterator[Callable[..., Machine]]:
    """Make machines with parameters; they are freed at the end of the test."""
    made: list[Machine] = []

    def make(delays: Sequence[int] = (), **parameters: int) -> Machine:
        made.append(Machine(library, parameters, delays))
        return made[-1]

    yield make
    for machine in made:
        machine.close()


@pytest.fixture(params=NAMES)
def vector(request: pytest.FixtureRequest, golden_data: Path) -> GoldenVector:
    """One layer computed by the public reference implementation."""
    return GoldenVector.load(golden_data / "neureka_vectors" / f"{request.param}.npz")
