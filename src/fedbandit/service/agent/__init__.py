"""A site as a local service over HTTP and JSON, for programs in any language."""
