"""How the command line refuses."""


def refused(said, sentence):
    assert said.code == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith(f"fedbandit: {sentence}"), said.err
