"""What the dueling algorithms share: arm selection, online steps, and the exchange that finds a common minimum."""
