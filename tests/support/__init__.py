"""What the rooms of the tests share; imported by its full name, `support.deliveries`. A test imports no other
test.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
