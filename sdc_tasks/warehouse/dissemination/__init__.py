"""What the world gets: the one way in, what other domains have published, and where a published cell comes from."""
