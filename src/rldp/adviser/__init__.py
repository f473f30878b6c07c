"""Comparisons of designs that help to choose one."""
