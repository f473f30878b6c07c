"""Output for people: terminal, figures and pages."""
