"""The protocol file: its strict reader, and conversion of protocols to files and back."""
