"""Proof of the simulated instruction set against oracles that share no code with the simulator."""
