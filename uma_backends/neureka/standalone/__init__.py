"""The C model without a simulator: a flat memory system, a build helper, a benchmark."""
