"""What a Newton step is made of: privacy and utility at a strictly private point."""
