"""What the Lasso algorithms share: the client side and its estimates."""
