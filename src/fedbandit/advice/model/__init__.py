"""A model of rewards that is fitted to a log, the worlds that it draws, and how well it fits."""
