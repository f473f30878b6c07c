"""Releases on clusters: one adapter for each kind of frame."""
