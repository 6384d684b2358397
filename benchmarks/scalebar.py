"""How often and how fast the scale bar of a generated micrograph is found and read.

The acceptance figure: 200 images of mixed style, at least 95 % found and read. Beside it, a naive
reader on the same images: the longest even run of black or white pixels, with the first text that
is a length as its label.
"""

import statistics
import time

import numpy as np

IMAGES = 200


def main() -> None:
    """Print rates with 95 % intervals and the median and slowest time of a detection."""
    from rich.console import Console
    from rich.table import Table

    from matpcr_utils.controls import scalebar

    sets = {
        "seeds 0 to 199 (looked at)": (0, IMAGES, {}),
        "held out": (scalebar.HELD_OUT, IMAGES, {}),
        "held out, unusual styles": (scalebar.HELD_OUT + 10_000, IMAGES // 2, {"unusual": True}),
        "held out, no bar in the image": (scalebar.HELD_OUT, IMAGES // 2, {"bar": "none"}),
    }
    table = Table(title="Scale bar found and read, label exact, length within 3 %")
    for column in ("images", "detector", "median ms", "slowest ms", "naive reader", "median ms"):
        table.add_column(column, justify="left" if column == "images" else "right")
    for name, (first, count, options) in sets.items():
        trial = scalebar.trial(range(first, first + count), **options)
        naive, naive_seconds = _naive_trial(trial)
        table.add_row(
            name,
            str(trial.rate),
            f"{1e3 * statistics.median(trial.seconds):.0f}",
            f"{1e3 * max(trial.seconds):.0f}",
            f"{naive} of {count}",
            f"{1e3 * statistics.median(naive_seconds):.0f}",
        )
    Console().print(table)


def _naive_trial(trial):
    correct, seconds = 0, []
    for image in trial.images:
        started = time.perf_counter()
        found = _naive(image.pixels)
        seconds.append(time.perf_counter() - started)
        if found is None or image.bar_px is None:
            correct += (found is None) == (image.bar_px is None)
            continue
        label_nm, length = found
        correct += label_nm == image.label_nm and abs(length / image.bar_px - 1) <= 0.03
    return correct, seconds


def _naive(pixels):
    """Label in nm and length in pixels: the first length read, the longest run of pure ink."""
    from matpcr_utils.references.scalebar_text import labels, read_lines

    found = labels(read_lines(pixels))
    if not found:
        return None
    limit = 0.75 * pixels.shape[1]
    longest = 0
    for level in (0, 255):
        ink = np.pad(pixels == level, ((0, 0), (1, 1))).astype(np.int8)
        edges = np.diff(ink, axis=1)
        starts, stops = np.argwhere(edges == 1), np.argwhere(edges == -1)
        runs = stops[:, 1] - starts[:, 1]
        longest = max(longest, int(runs[runs < limit].max(initial=0)))
    return (found[0].length_nm, longest) if longest else None


if __name__ == "__main__":
    main()
