"""Many features of which few matter. One file an algorithm; `shared` has what they have in common."""
