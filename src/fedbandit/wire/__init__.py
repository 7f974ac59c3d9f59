"""Messages to bytes and back, and what they weigh."""

from fedbandit.wire.codec import decode, encode, weigh

__all__ = ["decode", "encode", "weigh"]
