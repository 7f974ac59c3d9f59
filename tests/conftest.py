"""Settings that every test shares."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("fedbandit", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.load_profile("fedbandit")
