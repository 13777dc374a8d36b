"""Deployments, prompts and forgeries for the tests that attack."""
