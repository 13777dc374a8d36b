"""Files that stand beside a table: an operator's instructions, earlier patterns, links to other tables."""
