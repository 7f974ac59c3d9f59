"""What the linear algorithms share: the client side, its messages and its state."""
