"""The pages of a release: how it is protected, what changed since the version before, those of earlier periods."""
