"""The story and what writes the files are imported, and hold no tests."""

collect_ignore_glob = ["story.py", "write.py"]
