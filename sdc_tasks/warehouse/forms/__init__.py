"""The one form of what is compared: digests that program and database both take, names of people, arrays as bytes."""
