"""What is printed within safe intervals: values that add up, that are possible together, that others do not narrow; visible sums."""
