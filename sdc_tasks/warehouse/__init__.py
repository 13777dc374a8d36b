"""Where deliveries, intermediate results, audits and releases are kept. Start reading at `schema.py`."""
