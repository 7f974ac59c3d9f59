"""One file a paper's algorithm: its parameters, state, messages, client side and server side."""
