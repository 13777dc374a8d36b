"""What each attacker is owed: the promise, what cuts it, and that nobody is left out."""
