"""A log of shops, and the advice from it, which takes some seconds: once for all tests of advice."""

import pytest

import fedbandit as fb
from samples.shop_logs import shop_files


@pytest.fixture(scope="package")
def shops(tmp_path_factory):
    log, features = shop_files(tmp_path_factory.mktemp("shops"))
    return fb.Log.read(log), fb.Features.read(features)


@pytest.fixture(scope="package")
def advice(shops):
    return fb.advise(*shops, budget="20 kB/day")
