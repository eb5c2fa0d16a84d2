"""From a decoder to an archive with two entry points, and from a prompt to text."""

from __future__ import annotations

from tvm_pulp.language_models.generation.session import Generated, Generator, Sampling, Wish
from tvm_pulp.language_models.generation.tokenizer import read_tokenizer

__all__ = ["Generated", "Generator", "Sampling", "Wish", "read_tokenizer"]
