"""The confidential schema: deliveries, what steps hand to each other, the secret that keys names, retention."""
