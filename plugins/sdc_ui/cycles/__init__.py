"""The pages of a cycle: its countries and their files, its deadlines, the findings."""
