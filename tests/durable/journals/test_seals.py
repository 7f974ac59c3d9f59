"""Which records of a journal must have a checksum."""

from fedbandit.durable.journals.seals import Row, Rule, faults


def test_the_first_record_that_must_have_a_checksum_is_refused_without_one():
    rows = [Row(2, b"of 0.1", None), Row(3, b"later", None)]
    assert list(faults(rows, Rule(1, sealed_from=3))) == ["record 3 is damaged: it has no checksum"]
