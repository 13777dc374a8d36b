"""The confidential schema: deliveries, results of steps, the secret of the warehouse, and retention."""
