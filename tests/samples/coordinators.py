"""Coordinators to send frames to."""

from fedbandit.durable.journals.journal import MemoryJournal
from fedbandit.durable.server import DurableServer
from samples.bad_frames import LIMITS, charter


def coordinator(limits=LIMITS):
    return DurableServer(charter(), MemoryJournal(), epoch=1, now=0.0, limits=limits)
