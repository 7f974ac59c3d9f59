"""Settings that every test shares."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from samples.postgres import postgres_url

__all__ = ["postgres_url"]  # a fixture

# What tests import is not collected: a module that is imported twice would register its messages twice.
collect_ignore_glob = ["samples/*.py", "reference/[!t]*.py"]

settings.register_profile("fedbandit", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("fedbandit")
