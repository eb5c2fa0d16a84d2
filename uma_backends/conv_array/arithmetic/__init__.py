"""Arithmetic of engines that multiply bytes on an array and end with a product, a sum and a shift.

Such an array computes `(accumulator * scale + bias) >> shift` with unsigned scales and never rounds.
"""
