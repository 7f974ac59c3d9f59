"""What an application embeds: a site that decides, learns late, remembers, and syncs when it can."""
