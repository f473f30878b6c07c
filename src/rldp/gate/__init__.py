"""The checks that every release passes: the protocol, the rows, and the columns published beside it."""
