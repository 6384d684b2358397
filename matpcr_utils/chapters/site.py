"""A Sphinx extension with what the rendered book needs beyond Jupyter Book's own.

It ships MathJax with the site, adds the freshness of the whole book (``{{ freshness }}``), and
makes the download buttons serve an executed notebook in plain Markdown and the chapter's ``.py``.
Where Sphinx itself executes the chapters, it reads those again whose dependencies changed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matpcr_utils.chapters import freshness, mathjax
from matpcr_utils.chapters.fingerprint import fingerprint
from matpcr_utils.chapters.library import FOLDER
from matpcr_utils.errors import MatPCRError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", _ship_mathjax)
    app.connect("config-inited", _substitute_freshness)
    app.connect("env-get-outdated", _stale_chapters)
    app.connect("html-page-context", _offer_source, priority=900)
    app.connect("build-finished", _write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _ship_mathjax(app: Sphinx, config: Config) -> None:
    from sphinx.util import logging

    try:
        folder = mathjax.directory()
    except MatPCRError as error:
        # Math then needs a network to be read, which is no reason to have no book.
        logging.getLogger(__name__).info("MathJax is not shipped with this site: %s", error)
        return
    config.html_static_path = [*config.html_static_path, str(folder)]
    config.mathjax_path = mathjax.SCRIPT


def _substitute_freshness(app: Sphinx, config: Config) -> None:
    line = freshness.line().replace("Executed", "Built")
    config.myst_substitutions = {**config.myst_substitutions, "freshness": line}


def _stale_chapters(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Chapters to read again for what they depend on; Sphinx looks at a page's own file only."""
    before: dict[str, str] = getattr(env, "matpcr_fingerprints", {})
    now = {
        docname: fingerprint(Path(env.doc2path(docname)).read_text("utf-8"))
        for docname in env.found_docs
        if docname.startswith(f"{FOLDER}/") and Path(env.doc2path(docname)).suffix == ".py"
    }
    env.matpcr_fingerprints = now  # type: ignore[attr-defined]
    return [docname for docname in now if before.get(docname) != now[docname]]


def _is_executed_chapter(app: Sphinx, docname: str) -> bool:
    return (
        docname.startswith(f"{FOLDER}/")
        and docname in app.env.found_docs
        and Path(app.env.doc2path(docname)).suffix == ".ipynb"
    )


def _offer_source(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Beside the theme's ``.ipynb`` button, one for the chapter's source."""
    if not _is_executed_chapter(app, pagename):
        return
    for group in context.get("header_buttons", []):
        if group.get("label") == "download-buttons":
            group["buttons"].insert(
                1,
                {
                    "type": "link",
                    "url": f"{context['pathto']('_sources', 1)}/{pagename}.py",
                    "text": ".py",
                    "icon": "fas fa-file-code",
                    "tooltip": "Download the chapter's source",
                    "label": "download-script-button",
                },
            )


def _write_downloads(app: Sphinx, exception: Exception | None) -> None:
    """Replace the copied sources of chapters by notebooks without MyST, and add the scripts."""
    if exception or app.builder.format != "html":
        return
    import nbformat

    from matpcr_utils.chapters.plain import plain

    for docname in sorted(app.env.found_docs):
        if not _is_executed_chapter(app, docname):
            continue
        source = Path(app.env.doc2path(docname))
        target = Path(app.outdir) / "_sources" / f"{docname}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(plain(nbformat.read(source, as_version=4)), target)
        script = source.with_suffix(".py")
        if script.is_file():
            shutil.copy(script, target.with_suffix(".py"))
