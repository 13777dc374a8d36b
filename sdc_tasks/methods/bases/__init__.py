"""Safe bases: how coarsely each aggregate cell must be published."""
