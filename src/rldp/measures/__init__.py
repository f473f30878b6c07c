"""Leakage and distortion of a protocol: under a distribution, at worst over a set, and a posteriori."""
