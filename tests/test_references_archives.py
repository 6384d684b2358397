"""Fetching pinned archives: verified, atomic, and with one clear line when it fails."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives


def _wheel() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        wheel.writestr("toy/data.txt", "one")
        wheel.writestr("toy/a.txt", "two")
    return buffer.getvalue()


def _sdist() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        info = tarfile.TarInfo("toy-1.0/toy/data.txt")
        info.size = 3
        tar.addfile(info, io.BytesIO(b"one"))
    return buffer.getvalue()


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """A pinned archive that a stand-in for pip delivers; returns what pip was asked."""
    calls: list[list[str]] = []
    served = {"toy-1.0-py3-none-any.whl": _wheel(), "toy-1.0.tar.gz": _sdist()}
    pins = {
        "wheel": archives.Archive("toy", "1.0", "toy-1.0-py3-none-any.whl", ""),
        "sdist": archives.Archive("toy", "1.0", "toy-1.0.tar.gz", ""),
    }
    for name, pin in pins.items():
        digest = hashlib.sha256(served[pin.filename]).hexdigest()
        monkeypatch.setitem(
            archives.ARCHIVES,
            name,
            archives.Archive(pin.package, pin.version, pin.filename, digest),
        )

    def run(command, env, **_):
        calls.append(command)
        dest = Path(command[command.index("--dest") + 1])
        name = "toy-1.0.tar.gz" if "--use-pep517" in command else "toy-1.0-py3-none-any.whl"
        if name in served:
            (dest / name).write_bytes(served[name])
            return SimpleNamespace(returncode=0, stderr="")
        return SimpleNamespace(returncode=1, stderr="x\nERROR: No matching distribution\n")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path / "cache"))
    return SimpleNamespace(calls=calls, served=served, folder=tmp_path / "cache" / "archives")


def test_every_pin_is_complete():
    assert set(archives.ARCHIVES) >= {"matminer", "crabnet", "hyperspy", "django_static_mathjax"}
    for pin in archives.ARCHIVES.values():
        assert len(pin.sha256) == 64 and int(pin.sha256, 16) > 0
        assert pin.version in pin.filename


def test_fetch_downloads_once_and_leaves_only_the_file(toy):
    first = archives.fetch("wheel")
    archives._fetch.cache_clear()  # as another process would
    assert archives.fetch("wheel") == first
    assert len(toy.calls) == 1
    assert [file.name for file in toy.folder.iterdir()] == ["toy-1.0-py3-none-any.whl"]


def test_the_same_wheel_is_asked_for_on_every_platform(toy):
    archives.fetch("wheel")
    assert "toy==1.0" in toy.calls[0]
    assert "--python-version=3.11" in toy.calls[0]
    assert "--only-binary=:all:" in toy.calls[0]


def test_a_damaged_file_in_the_cache_is_replaced(toy):
    path = archives.fetch("wheel")
    path.write_bytes(b"broken")
    archives._fetch.cache_clear()
    assert archives.fetch("wheel").read_bytes() == toy.served[path.name]


def test_another_file_than_the_pinned_one_is_refused(toy):
    toy.served["toy-1.0-py3-none-any.whl"] = b"something else"
    with pytest.raises(MatPCRError, match=r"sha256 .* is not the pinned .* nothing was kept"):
        archives.fetch("wheel")
    assert list(toy.folder.iterdir()) == []


def test_no_network_says_what_to_do_in_one_line(toy):
    toy.served.clear()
    with pytest.raises(MatPCRError, match="No matching distribution") as caught:
        archives.fetch("wheel")
    assert "check the network" in str(caught.value)
    assert str(toy.folder) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["wheel", "sdist"])
def test_member_reads_wheels_and_sdists_alike(toy, name):
    assert archives.member(name, "toy/data.txt") == b"one"
    assert "toy/data.txt" in archives.members(name)
    with pytest.raises(MatPCRError, match=r"has no member 'toy/none\.txt'"):
        archives.member(name, "toy/none.txt")


def test_members_are_sorted(toy):
    assert archives.members("wheel") == ["toy/a.txt", "toy/data.txt"]


def test_unknown_archive_lists_the_known_ones():
    with pytest.raises(MatPCRError, match="unknown archive 'numpy': choose one of matminer"):
        archives.fetch("numpy")


def test_stand_in_backend_answers_with_the_sdists_own_metadata(tmp_path, monkeypatch):
    backend: dict = {"__name__": "sys"}
    exec(archives._STAND_IN_BACKEND, backend)
    monkeypatch.chdir(tmp_path)
    Path("PKG-INFO").write_text("Metadata-Version: 2.1\nName: a-b\nVersion: 1.2\n")
    Path("out").mkdir()
    assert backend["get_requires_for_build_wheel"]() == []
    assert backend["prepare_metadata_for_build_wheel"]("out") == "a_b-1.2.dist-info"
    assert "Version: 1.2" in Path("out/a_b-1.2.dist-info/METADATA").read_text()


@pytest.mark.network
@pytest.mark.parametrize("name", ["crystals", "xrayutilities"])
def test_real_archives_arrive_as_pinned(name, tmp_path, monkeypatch):
    monkeypatch.setenv("MATPCR_CACHE", str(tmp_path))
    try:
        path = archives.fetch(name)
    except MatPCRError as error:
        pytest.skip(str(error))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == archives.get(name).sha256
