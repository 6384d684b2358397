"""Items by their id."""

from __future__ import annotations

from functools import cache, lru_cache
from types import MappingProxyType

from matpcr_utils import items
from matpcr_utils.items import Item


@lru_cache(maxsize=64)
def load(constraint: str, n_items: int | None = None, seed: int = 0) -> MappingProxyType[str, Item]:
    """The items of one task, by id and in order; see `items.load`."""
    return MappingProxyType({item.item_id: item for item in items.load(constraint, n_items, seed)})


@cache
def get(item_id: str) -> Item:
    """The item with an id, wherever its chain comes from; see `items.get`."""
    return items.get(item_id)
