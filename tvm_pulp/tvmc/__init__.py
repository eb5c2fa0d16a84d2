"""Command line of tvm_pulp."""
