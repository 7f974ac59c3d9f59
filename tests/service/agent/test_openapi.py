"""The OpenAPI document says what the service does."""

from __future__ import annotations

import pytest

from fedbandit.service.agent.openapi import ROUTES, document
from samples.agents import asking, plan_in

validator = pytest.importorskip("openapi_spec_validator")


@pytest.mark.parametrize("has_token", [True, False])
def test_the_document_is_valid_and_has_all_routes(has_token):
    made = document(has_token=has_token)
    validator.validate(made)
    assert {(path, method) for path, methods in made["paths"].items() for method in methods} == {
        (route.path, route.method) for route in ROUTES
    }
    guarded = {path for path, methods in made["paths"].items() for each in methods.values() if "security" in each}
    assert guarded == ({route.path for route in ROUTES if not route.is_open} if has_token else set())


def test_the_service_hands_out_its_document(tmp_path):
    assert asking(plan_in(tmp_path), ("GET", "/openapi.json")) == [(200, document(has_token=False))]


def test_every_operation_has_a_name_of_its_own():
    names = [each["operationId"] for methods in document(has_token=True)["paths"].values() for each in methods.values()]
    assert sorted(names) == ["choose", "give_up", "health", "learn", "metrics", "openapi", "policy", "state"]
