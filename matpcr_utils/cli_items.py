"""The commands ``matpcr items …``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from matpcr_utils.errors import MatPCRError


@click.group()
def items() -> None:
    """The questions that models are asked, with their answers."""


@items.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--constraint", default="all", show_default=True, help="A constraint type, or all.")
@click.option("--n-items", type=int, help="Items a constraint type.  [default: 96]")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of items.")
def export(folder: Path, constraint: str, n_items: int | None, seed: int) -> None:
    """Write items to FOLDER: items.jsonl, images/*.png and a dataset card."""
    from matpcr_utils import items as package

    target = package.export(folder, constraint, n_items, seed)
    count = sum(1 for _ in (target / "items.jsonl").open(encoding="utf-8"))
    images = sum(1 for _ in (target / "images").iterdir())
    click.echo(f"{target}: {count} items, {images} images")


@items.command()
@click.argument("item_id")
@click.option("--version", default="v1", show_default=True, help="Wording of the prompt.")
@click.option("--modality", type=click.Choice(["text", "image"]), help="[default: the item's own]")
@click.option("--examples", type=int, default=0, show_default=True, help="Worked examples.")
@click.option("--image", "target", type=click.Path(path_type=Path), help="Write the image here.")
@click.option("--truth", is_flag=True, help="Print the accurate answer, too.")
@click.option("--json", "as_json", is_flag=True, help="Print the item's whole record instead.")
def show(
    item_id: str,
    version: str,
    modality: str | None,
    examples: int,
    target: Path | None,
    truth: bool,
    as_json: bool,
) -> None:
    """Print the prompt of one item by its id, or list the ids of a constraint type.

    \b
    matpcr items show stability-mp-1138
    matpcr items show stability
    """
    from matpcr_utils import items as package
    from matpcr_utils.claims.model import CONSTRAINTS
    from matpcr_utils.items import dataset
    from matpcr_utils.references import store

    if item_id in CONSTRAINTS:
        for listed in package.load(item_id):
            click.echo(listed.item_id)
        return
    item = package.get(item_id)
    if target is not None:
        if target.is_dir():
            raise MatPCRError(f"{target} is a folder: name a file, e.g. {target / 'item.png'}")
        store.write_bytes(target, package.image(item))
    if as_json:
        json.dump(dataset.record(item), sys.stdout, ensure_ascii=False, indent=2)
        click.echo()
        return
    click.echo(package.prompt(item, version, modality, examples))
    if truth:
        click.echo(f"\n{package.answer(item)}")
