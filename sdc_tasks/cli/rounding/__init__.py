"""Commands that round any table."""
