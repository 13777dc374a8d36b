"""The parts of a release that `pipeline.py` calls: assembly of the problem, the gate, the certificate."""
