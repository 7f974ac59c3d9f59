"""The version of this package, for whoever writes it into a file."""

VERSION = "0.1.0"
