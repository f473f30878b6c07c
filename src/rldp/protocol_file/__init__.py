"""The protocol file: its one strict reading, and protocols to files and back."""
