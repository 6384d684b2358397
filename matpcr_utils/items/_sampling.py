"""Orders that do not depend on how many items are asked for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def round_robin(
    strata: Sequence[NDArray[np.intp]], seed: int, salt: int
) -> Iterator[tuple[int, int]]:
    """Stratum and row, the strata in turn, each in an order drawn from `seed` and `salt`.

    An array that stands more than once among `strata` is shared by its places: it comes up that
    many times a round. A stratum that is used up ends the iteration, so that the balance holds in
    every prefix.
    """
    queues: dict[int, Iterator[int]] = {}
    for rows in strata:
        if id(rows) not in queues:
            rng = np.random.default_rng([seed, salt, len(queues)])
            queues[id(rows)] = iter(rng.permutation(rows).tolist())
    while True:
        for stratum, rows in enumerate(strata):
            row = next(queues[id(rows)], None)
            if row is None:
                return
            yield stratum, row


def salt_of(text: str) -> int:
    """A number that depends on a text alone, for draws that an id must fix by itself."""
    return zlib.crc32(text.encode())
