"""Fixtures of the NE16 tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.uma_backends.flat_machine import Machine, ModelLibrary

from .golden_vector import NAMES, GoldenVector


@pytest.fixture(scope="session")
def library() -> ModelLibrary:
    """The C model with its flat memory system."""
    return ModelLibrary.build("ne16")


@pytest.fixture
def machine(library: ModelLibrary) -> Iterator[Machine]:
    """A NE16 with default parameters."""
    with Machine(library) as machine:
        yield machine


@pytest.fixture(params=NAMES)
def vector(request: pytest.FixtureRequest, golden_data: Path) -> GoldenVector:
    """One layer computed by the public model."""
    return GoldenVector.load(golden_data / "ne16_vectors" / f"{request.param}.npz")
