"""Checks of protocols on new data, and of released rows."""
