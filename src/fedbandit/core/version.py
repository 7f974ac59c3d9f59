"""The version of this package, for whoever writes it into a file."""

VERSION = "0.2.0.dev0"
