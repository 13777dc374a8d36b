"""The attack by linear programs."""
