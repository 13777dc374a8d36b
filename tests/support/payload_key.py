"""The key that confidential payloads are encrypted with in tests, a secret for warehouses that are to
be alike, and nobody's secrets.
"""

PAYLOAD_KEY = "c2RjLXRlc3RzLW9ubHktdGhpcy1rZXktaXMtcHVibGk="
WAREHOUSE_SECRET = "5dc" + "0" * 61
