"""Layers cut into tiles, their schedule and its places in memory: what a plan is made of."""
