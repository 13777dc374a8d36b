"""The rooms of a release that `pipeline.py` leads through: the problem put together, the gate, the certificate."""
