"""The program of a site, that advice writes: it decides and learns for an application that talks to it in lines."""

from __future__ import annotations

from fedbandit.advice.advice import Advice, parameters_of

PROGRAM = '''\
"""A site of the advised federation. Made by fedbandit advise.

    python site.py NAME

NAME is one of SITES below. Each line of standard input is a JSON object, and is answered by one:

    {asked}
        what is on offer: answered by the "id" of the decision, the "arm" to take (its place) and its "propensity"
    {{"id": "...", "reward": 1.0}}
        what a decision earned, whenever that is known: answered by whether it was "learnt"

The site keeps a log of its decisions beside this file, by which they can be evaluated. A program in Python calls
`site.choose` and `site.learn` itself.
"""

import json
import sys
from pathlib import Path

import fedbandit as fb

HERE = Path(__file__).parent
SITES = {sites}

if len(sys.argv) != 2 or sys.argv[1] not in SITES:
    sys.exit(f"usage: python site.py NAME, where NAME is one of {{', '.join(SITES)}}")
number = SITES.index(sys.argv[1])
site = {opened}
with site:
    for line in sys.stdin:
        said = json.loads(line)
        try:
            if "reward" in said:
                answer = {{"learnt": site.learn(said["id"], said["reward"])}}
            else:
                decision = site.choose({choice})
                answer = {{"id": decision.id, "arm": decision.arm, "propensity": decision.propensity}}
        except fb.InvalidInput as error:
            answer = {{"error": str(error)}}
        print(json.dumps(answer), flush=True)
'''
JOINED = """fb.Site.join(
    {to!r}, number=number, store=HERE / f"site-{{number}}.db", log=HERE / f"decisions-{{number}}",
    every={every!r},{features}
)"""
ALONE = """fb.Site(
    {algorithm!r}, clients=len(SITES), number=number, store=HERE / f"site-{{number}}.db",
    log=HERE / f"decisions-{{number}}",{size}
    **{parameters!r},
)"""


def program_of(advice: Advice, to: str) -> str:
    """Return the text of `site.py`."""
    log = advice.log
    has_features = log.features is not None
    features = '\n    features=fb.Features.read(HERE / "features.toml"),' if has_features else ""
    if advice.choice.helps:
        opened = JOINED.format(to=to, every=advice.every, features=features)
    else:
        size = features or f"\n    dimension={log.dimension},"
        parameters = parameters_of(advice.algorithm)
        opened = ALONE.format(algorithm=advice.algorithm.id, size=size, parameters=parameters)
    return PROGRAM.format(
        asked='{"context": {...}, "arms": [{...}, ...]}' if has_features else '{"arms": [[...], ...]}',
        sites=list(log.sites),
        opened=opened,
        choice='said["arms"], context=said.get("context")' if has_features else 'said["arms"]',
    )
