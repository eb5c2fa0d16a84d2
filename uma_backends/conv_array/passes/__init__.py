"""Passes over the canonical module that make layers fit an array: signs, strides and few channels."""
