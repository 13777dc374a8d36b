"""Content checks of one complete national table: does it add up, does it say what its flags say."""
