"""What a coordinator tells of itself: telemetry, the status page, metrics."""
