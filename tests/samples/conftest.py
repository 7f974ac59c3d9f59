"""These files are imported by tests and hold none; collecting them would register their messages a second time."""

collect_ignore_glob = ["*.py"]
