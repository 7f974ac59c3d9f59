"""Two arms meet and one wins. One file an algorithm; `shared` has what they have in common."""
