"""Shared by all rooms: checks of arguments, rounding of bounds, tables for notebooks, the process."""
