"""A run on a model that counts its answers, in a process of its own, so that it can be killed.

Arguments: the run's folder, the file that counts, at which call to die (0: never), and the
condition.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from inspect_ai.model import ModelOutput, ModelUsage, get_model

from matpcr_utils.evaluation import run


def main(folder: str, counted: str, dies_at: int, condition: str = "plain") -> None:
    """Two constraint types of six items, two answers each."""

    def answer(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        if dies_at and len(_lines(counted)) >= dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        words = messages[-1].text
        with Path(counted).open("a", encoding="utf-8") as stream:
            stream.write(f"{hash_of(' '.join(message.text for message in messages))}\n")
        said = "This phase is stable." if len(words) % 2 else "This phase is unstable."
        if "μB" in words or "magnet" in words:
            said = "The net magnetization is 1.5 μB per formula unit."
        output = ModelOutput.from_content("mockllm/counting", said)
        output.usage = ModelUsage(input_tokens=5, output_tokens=5, total_tokens=10)
        return output

    model = get_model("mockllm/counting", custom_outputs=answer, memoize=False)
    model.api.max_connections = lambda: 1  # type: ignore[method-assign]
    done = run.evaluate(
        model, ("stability", "magnetism"), n_items=6, seeds=2, out=folder, condition=condition
    )
    print(done.complete)


def hash_of(words: str) -> str:
    """Short, and the same in every process."""
    import hashlib

    return hashlib.sha256(words.encode()).hexdigest()[:12]


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
