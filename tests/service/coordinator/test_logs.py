"""The service says what it does, and of libraries only what they warn of."""

import json
import subprocess
import sys
from datetime import datetime

from fedbandit.service.coordinator.logs import MOST_KINDS, RateLimiter

TALK = """
import logging, sys
from fedbandit.service.coordinator.logs import log_to_stderr

log_to_stderr(as_json=sys.argv[1:] == ["json"])
for name in ("fedbandit.coordinator", "jax"):
    logging.getLogger(name).info("a word of %s", name)
    logging.getLogger(name).warning("a warning of %s", name)
"""


def test_libraries_are_heard_only_when_they_warn():
    said = subprocess.run([sys.executable, "-c", TALK], capture_output=True, text=True, check=True).stderr
    assert [line.split(": ")[1] for line in said.splitlines()] == [
        "a word of fedbandit.coordinator", "a warning of fedbandit.coordinator", "a warning of jax",
    ]  # fmt: skip


def test_as_json_each_message_is_one_line_with_its_traceback():
    talk = (
        TALK
        + """
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("fedbandit.site").exception("two\\nlines")
"""
    )
    said = subprocess.run([sys.executable, "-c", talk, "json"], capture_output=True, text=True, check=True).stderr
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(each["level"], each["logger"], each["message"]) for each in lines] == [
        ("INFO", "fedbandit.coordinator", "a word of fedbandit.coordinator"),
        ("WARNING", "fedbandit.coordinator", "a warning of fedbandit.coordinator"),
        ("WARNING", "jax", "a warning of jax"),
        ("ERROR", "fedbandit.site", "two\nlines"),
    ]
    assert "ZeroDivisionError" in lines[-1]["traceback"]
    assert "traceback" not in lines[0]
    assert datetime.fromisoformat(lines[0]["time"]).tzinfo is not None


def test_the_first_message_of_a_kind_is_said_and_the_next_after_a_while_with_the_number_held_back():
    limiter = RateLimiter(seconds=60.0)
    said = [limiter.admit(4, f"upload {number} is too large", now=float(number)) for number in range(61)]
    assert said[0] == "upload 0 is too large"
    assert said[1:60] == [None] * 59
    assert said[60] == "upload 60 is too large (and 59 more like it)"
    assert limiter.admit(4, "upload 61 is too large", now=120.0) == "upload 61 is too large"


def test_one_site_that_floods_the_log_hides_nothing_of_another():
    limiter = RateLimiter()
    for number in range(1000):
        limiter.admit(4, f"upload {number} is too large", now=0.0)
    assert limiter.admit(5, "upload 1 is too large", now=0.0) == "upload 1 is too large"
    assert limiter.admit(4, "another thing", now=0.0) == "another thing"


def test_words_that_a_site_makes_up_do_not_take_memory_or_log():
    limiter = RateLimiter()
    said = [limiter.admit(4, f"a word {chr(97 + n % 26) * (1 + n // 26)}", now=0.0) for n in range(10_000)]
    assert sum(each is not None for each in said) == MOST_KINDS + 1
    assert sum(map(len, limiter._said.values())) == MOST_KINDS + 1
    assert len(limiter.admit(6, "long " * 10_000, now=0.0)) < 400


def test_messages_that_differ_in_what_they_quote_are_of_one_kind():
    limiter = RateLimiter()
    assert limiter.admit(4, "report has an arm called 'it\\'s \\n'", now=0.0) is not None
    assert limiter.admit(4, 'report has an arm called "red"', now=0.0) is None
