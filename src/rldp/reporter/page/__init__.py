"""The report: one HTML file about a protocol, for people who decide and for people who check."""
