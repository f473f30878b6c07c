"""Who helps to decide: designs side by side."""
