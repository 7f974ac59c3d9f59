"""The mathematics: small pure functions on arrays, compiled where they are hot."""
