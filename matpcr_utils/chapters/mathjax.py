"""MathJax, so that math renders with no network: read from a pinned archive, kept in the cache."""

from __future__ import annotations

import tempfile
from pathlib import Path

from matpcr_utils.errors import MatPCRError
from matpcr_utils.references import archives

_ARCHIVE = "django_static_mathjax"
_PREFIX = "mathjax/static/mathjax/"
_PAGE = f"{_PREFIX}es5/tex-chtml.js"
_FONTS = f"{_PREFIX}es5/output/chtml/fonts/woff-v2/"
_LICENSE = f"{_PREFIX}LICENSE"
#: One file that draws math with vector paths: it needs no fonts beside it.
_SINGLE_FILE = f"{_PREFIX}es5/tex-svg.js"

#: Of the script below the folder that `directory` gives.
SCRIPT = "mathjax/es5/tex-chtml.js"


def directory() -> Path:
    """A folder that holds ``mathjax/`` with the script, its fonts and its licence.

    Raises
    ------
    MatPCRError
        If the archive is not in the cache and can't be fetched.
    """
    final = archives.cache_dir() / f"mathjax-{archives.get(_ARCHIVE).version}"
    if (final / SCRIPT).is_file():
        return final
    names = [
        name
        for name in archives.members(_ARCHIVE)
        if name in (_PAGE, _LICENSE) or name.startswith(_FONTS)
    ]
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=final.parent) as scratch:
        ready = Path(scratch) / "ready"
        for name in names:
            target = ready / "mathjax" / name.removeprefix(_PREFIX)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(archives.member(_ARCHIVE, name))
        try:
            ready.replace(final)
        except OSError as error:
            # Another process was first.
            if not (final / SCRIPT).is_file():
                raise MatPCRError(f"{final} can't be written: {error}") from error
    return final


def single_file() -> str:
    """The script that a self-contained page carries within it.

    Raises
    ------
    MatPCRError
        As `directory`.
    """
    return archives.member(_ARCHIVE, _SINGLE_FILE).decode()
