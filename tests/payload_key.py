"""The key that confidential payloads are encrypted with in tests, and nobody's secret."""

PAYLOAD_KEY = "c2RjLXRlc3RzLW9ubHktdGhpcy1rZXktaXMtcHVibGk="
