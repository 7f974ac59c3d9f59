"""Messages to bytes and back, and what they weigh."""

from fedbandit.wire.codec import decode, encode, kind_of, weigh

__all__ = ["decode", "encode", "kind_of", "weigh"]
