"""An application with a site in it, as a process that may be killed at any moment: `python -m samples.site_process`.

It plays its turns of a tagged world. What it has decided it writes to a file of its own before it tells the reward, so
that it can tell it again if it was killed in between: an application that loses nothing either.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from pathlib import Path

import fedbandit as fb
from samples.deployed import telling_at_once
from simulation.tagged import tagged_turns


class Application:
    def __init__(self, folder, number, table, seed, turns):
        self.diary = folder / f"diary-{number}.jsonl"
        self.number, self.seed = number, seed
        self.turns = tagged_turns(seed, turns, table["clients"])
        sizes = {key: table[key] for key in ("clients", "dimension", "arms", "horizon")}
        store = folder / f"site-{number}.db"
        self.site = fb.Site(table["algorithm"], number=number, store=store, **sizes, **telling_at_once(table)["set"])

    def past(self):
        """What the diary tells: the decision of each turn, and which turns are done."""
        lines = self.diary.read_bytes().split(b"\n")[:-1] if self.diary.exists() else []
        entries = [json.loads(line) for line in lines]
        return {each["turn"]: each for each in entries}

    def write(self, **entry):
        with self.diary.open("ab", buffering=0) as diary:
            diary.write(json.dumps(entry).encode() + b"\n")

    def play(self, is_over):
        past = self.past()
        payoff = self.turns.outcomes.payoff
        for turn in range(len(self.turns)):
            if self.turns.client[turn] != self.number or past.get(turn, {}).get("done"):
                continue
            entry = past.get(turn)
            if entry is None:
                decision = self.site.choose(self.turns.features[turn])
                entry = {"turn": turn, "decision": decision.id, "arm": int(decision.arm)}
                self.write(**entry)
            self.site.learn(entry["decision"], float(payoff[turn, entry["arm"]]))
            self.write(**entry, done=True)
            if is_over.wait(0.02):  # the pace of an application, so that there is something to interrupt
                return


def main():
    folder, number, address, told = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
    application = Application(folder, number, told["table"], told["seed"], told["turns"])
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    application.site.connect(address, every=0.3, patience=0.1)
    application.play(is_over)
    while not is_over.wait(0.05):
        (folder / f"unsent-{number}").write_text(str(application.site.unsent))
    application.site.close()


if __name__ == "__main__":
    main()
