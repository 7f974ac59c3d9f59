"""A secure aggregation is given up by a coordinator that is stopped, in its journal."""

from __future__ import annotations

import time

from fedbandit.durable.coordinator.abandoning import Abandoned
from fedbandit.durable.coordinator.journalled import JournalledServer
from fedbandit.durable.journals.journal import open_journal
from fedbandit.durable.journals.reading import journals_at
from fedbandit.service.coordinator.settings import FederationPlan, ServicePlan


def abandon(plan: ServicePlan, federation: FederationPlan) -> Abandoned:
    """Give up the secure aggregation that a federation's journal tells of, if its last step is under way."""
    journals_at(plan.journal, federation.name)  # one that is not there must not be made
    journal = open_journal(plan.journal, federation.name, keep_log=federation.keep_log)
    try:
        now = time.time()
        return JournalledServer(federation.charter, journal, epoch=int(now), now=now).abandon(now)
    finally:
        journal.close()
