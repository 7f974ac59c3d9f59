"""The files of advice make a federation that runs: a coordinator as it is, and sites that an application talks to."""

import json
import subprocess
import sys

import pytest

import fedbandit as fb
from fedbandit.transport.nats.broker import Broker, free_port
from fedbandit.transport.nats.broker_settings import BrokerSettings
from samples.deployed import PROGRAM, Coordinator
from samples.shop_logs import shop_files

pytestmark = pytest.mark.long


class Served(Coordinator):
    """`fedbandit serve` on a file that is there already, at a broker of the test's own."""

    def __init__(self, file, broker):
        self.log, self.file, self.broker, self.process = file.parent / "coordinator.log", file, broker, None

    def start(self):
        command = [*PROGRAM, "serve", str(self.file), "--broker", self.broker, "--http", "127.0.0.1:0"]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        return self


class Application:
    """A site's program, and what an application says to it."""

    def __init__(self, program, name):
        command = [sys.executable, str(program), name]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, **said):
        self.process.stdin.write(json.dumps(said) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0
        self.process.stdout.close()


@pytest.mark.slow
def test_an_advised_federation_starts_as_it_is_and_its_sites_learn_together(tmp_path):
    log, features = shop_files(tmp_path)
    advice = fb.advise(fb.Log.read(log), fb.Features.read(features), budget="20 kB/day", algorithms=["lean-linucb"])
    folder = advice.write(tmp_path / "advice")
    address = f"nats://127.0.0.1:{free_port()}"
    program = folder / "site.py"
    program.write_text(program.read_text().replace("nats://127.0.0.1:4222", address))
    offer = {"context": {"segment": "gold"}, "arms": [{"price": 20.0}, {"price": 480.0}]}
    with Broker(BrokerSettings(tmp_path / "broker", port=int(address.rpartition(":")[2]))):
        coordinator = Served(folder / "coordinator.toml", address).start()
        try:
            coordinator.wait()
            shops = [Application(program, f"shop {number}") for number in range(2)]
            for shop in shops:
                decision = shop.say(**offer)
                assert decision["arm"] in (0, 1)
                assert 0 < decision["propensity"] <= 1
                assert shop.say(id=decision["id"], reward=1.0) == {"learnt": True}
                assert shop.say(id=decision["id"], reward=1.0) == {"learnt": False}
                assert "price is missing" in shop.say(context=offer["context"], arms=[{}])["error"]
                assert "reward" in shop.say(id=decision["id"], reward=1e9)["error"]  # beyond the log's largest
            for shop in shops:
                shop.end()
            assert coordinator.stop() == 0
        finally:
            coordinator.end()
    assert (folder / "journals").is_dir()
    assert {"site-0.db", "site-1.db"} <= {each.name for each in folder.iterdir()}
    assert len(list((folder / "decisions-1").glob("*.jsonl"))) == 1
