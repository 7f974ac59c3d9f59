"""Downloads resume, are checked, and fail with one clear sentence; the publisher is a server made here."""

import hashlib
import io
import socket
import ssl
import threading
import urllib.error
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fedbandit.core.errors import InvalidInput
from fedbandit.datasets import Download, DownloadError, check, describe, fetch, registry
from fedbandit.datasets.files import examples, fetching

CONTENT = bytes(range(256)) * 1000


class Publisher(ThreadingHTTPServer):
    """Serves files, with ranges unless told otherwise, and may hang up early."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/toy.bin": CONTENT}
        self.honours_ranges = True
        self.hangs_up_after: int | None = None
        self.ranges: list[str | None] = []

    def url(self, file: str = "toy.bin") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{file}"


class Handler(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.ranges.append(asked)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start and self.server.honours_ranges:
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            content = content[start:]
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.server.hangs_up_after])

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    with Publisher() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def item(publisher: Publisher) -> Download:
    return Download(publisher.url(), f"sha256:{hashlib.sha256(CONTENT).hexdigest()}")


def test_a_file_arrives_whole_and_progress_is_told(item: Download, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    path = fetching.download(item, tmp_path, "toy", lambda *facts: told.append(facts))
    assert path.read_bytes() == CONTENT
    assert told[-1] == ("toy.bin", len(CONTENT), len(CONTENT))
    assert [file.name for file in tmp_path.iterdir()] == ["toy.bin"]


def test_a_broken_download_is_kept_and_resumed(item: Download, publisher: Publisher, tmp_path: Path) -> None:
    publisher.hangs_up_after = 1000
    with pytest.raises(DownloadError, match=r"broke after 1,000 of 256,000 bytes.*kept in .*toy.bin.part") as caught:
        fetching.download(item, tmp_path, "toy")
    assert "\n" not in str(caught.value)
    publisher.hangs_up_after = None
    assert fetching.download(item, tmp_path, "toy").read_bytes() == CONTENT
    assert publisher.ranges == [None, "bytes=1000-"]


def test_a_server_without_ranges_sends_all_again(item: Download, publisher: Publisher, tmp_path: Path) -> None:
    publisher.honours_ranges = False
    (tmp_path / "toy.bin.part").write_bytes(b"something else")
    assert fetching.download(item, tmp_path, "toy").read_bytes() == CONTENT


def test_a_part_that_is_whole_is_taken(item: Download, publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "toy.bin.part").write_bytes(CONTENT)
    assert fetching.download(item, tmp_path, "toy").read_bytes() == CONTENT
    assert publisher.ranges == [f"bytes={len(CONTENT)}-"]


def test_a_part_that_is_too_long_is_fetched_afresh(item: Download, publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "toy.bin.part").write_bytes(CONTENT + b"more")
    assert fetching.download(item, tmp_path, "toy").read_bytes() == CONTENT
    assert publisher.ranges[-1] is None


def test_a_wrong_checksum_is_refused_and_nothing_is_left(item: Download, tmp_path: Path) -> None:
    wrong = replace(item, checksum="sha256:" + "0" * 64)
    with pytest.raises(DownloadError, match=r"with the sha256 sum [0-9a-f]{12}\.\.\. instead of 000000000000"):
        fetching.download(wrong, tmp_path, "toy")
    assert list(tmp_path.iterdir()) == []


def test_a_part_of_another_file_is_found_out_by_the_checksum(
    item: Download, publisher: Publisher, tmp_path: Path
) -> None:
    (tmp_path / "toy.bin.part").write_bytes(b"x" * 500)
    with pytest.raises(DownloadError, match="sha256"):
        fetching.download(item, tmp_path, "toy")
    assert fetching.download(item, tmp_path, "toy").read_bytes() == CONTENT


def test_a_file_that_is_right_is_not_fetched_again(item: Download, publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "toy.bin").write_bytes(CONTENT)
    fetching.download(item, tmp_path, "toy")
    assert publisher.ranges == []


def test_a_file_that_is_wrong_is_fetched_again(item: Download, tmp_path: Path) -> None:
    (tmp_path / "toy.bin").write_bytes(b"damaged")
    assert fetching.download(item, tmp_path, "toy").read_bytes() == CONTENT


def test_a_damaged_zip_without_a_known_sum_is_fetched_again(publisher: Publisher, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("toy.txt", b"hello")
    publisher.files["/toy.zip"] = packed.getvalue()
    (tmp_path / "toy.zip").write_bytes(packed.getvalue()[:50])
    item = Download(publisher.url("toy.zip"))
    for _ in range(2):
        assert fetching.download(item, tmp_path, "toy").read_bytes() == packed.getvalue()
    assert len(publisher.ranges) == 1


def test_an_absent_file_is_told(publisher: Publisher, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"gone.bin answered 404 Not Found: look for the file on"):
        fetching.download(Download(publisher.url("gone.bin")), tmp_path, "toy")


def test_no_network_is_told_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(DownloadError) as caught:
        fetching.download(Download(f"http://127.0.0.1:{port}/toy.bin"), tmp_path, "toy")
    assert str(caught.value) == (
        f"http://127.0.0.1:{port}/toy.bin could not be downloaded (Connection refused): check the network "
        "and run `fedbandit data fetch toy` again"
    )


def test_an_expired_certificate_is_told(item: Download, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        error = ssl.SSLCertVerificationError()
        error.verify_message = "certificate has expired"
        raise urllib.error.URLError(error)

    monkeypatch.setattr(fetching.urllib.request, "urlopen", refuse)
    with pytest.raises(DownloadError, match=r"has no valid certificate \(certificate has expired\)"):
        fetching.download(item, tmp_path, "toy")


def test_what_was_fetched_is_found_and_checked(
    publisher: Publisher, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = examples.files("magic")["magic04.data"]
    publisher.files["/magic04.data"] = content
    item = Download(publisher.url("magic04.data"), f"md5:{hashlib.md5(content).hexdigest()}")
    described = replace(describe("magic"), downloads=(item,))
    monkeypatch.setitem(registry.LOADERS, "magic", (described, registry.LOADERS["magic"][1]))
    assert fetch("magic") == (nowhere / "data" / "magic" / "magic04.data",)
    report = check("magic")
    assert report.location == nowhere / "data" / "magic"
    assert report.remarks == ()
    assert not report.complete
    (report.location / "magic04.data").write_bytes(content + content)
    assert "magic04.data is not the publisher's own file (md5 " in check("magic").remarks[0]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InvalidInput, match=r"file/magic cannot be made .*: give another folder"):
        fetch("magic", folder=tmp_path / "file")
