"""How long things take, in seconds, as clocks count them: UTC has no longer days and no shorter ones there."""

HOUR, DAY = 3600.0, 86_400.0
