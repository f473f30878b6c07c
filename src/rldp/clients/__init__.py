"""Releases on clusters and in pipelines: one adapter per library."""
