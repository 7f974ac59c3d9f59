"""Messages to bytes and back, and what they weigh."""

from fedbandit.wire.codec import decode, encode, encode_each, kind_of, weigh

__all__ = ["decode", "encode", "encode_each", "kind_of", "weigh"]
