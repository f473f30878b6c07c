"""Who looks again: at protocols on new data, and at released rows."""
