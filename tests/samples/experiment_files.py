"""The least that an experiment of one's own must say, and how it is read."""

from fedbandit.experiments.user_file import read_experiment

SERIES = '[[series]]\nalgorithm = "local-linucb"\n'
LEAST = 'environment = "linear"\n' + SERIES


def read(tmp_path, text, name="mine.toml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_experiment(path)
