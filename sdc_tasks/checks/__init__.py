"""Content checks of one complete national table: whether it adds up, and whether its flags fit its values."""
