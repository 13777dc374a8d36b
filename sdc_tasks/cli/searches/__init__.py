"""Commands that search while somebody waits: shown on the way, stopped in time, never without what was found so far."""
