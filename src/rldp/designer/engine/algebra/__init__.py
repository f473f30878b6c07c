"""The linear algebra of a Newton step."""
