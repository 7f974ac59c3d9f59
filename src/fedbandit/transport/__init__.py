"""What carries frames between sites and their coordinator."""
