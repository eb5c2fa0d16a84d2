"""Addresses in L1 and L2."""
