"""The coordinator's process: its settings, its federations, its rounds."""
