"""May this be released, and what leaves beside it?"""
