"""A model whose answers a test scripts, and runs of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_ai.model import ModelOutput, ModelUsage, get_model

from matpcr_utils.evaluation import run

STABLE, UNSTABLE = "This phase is stable.", "This phase is unstable."
Say = Callable[[list[Any]], str]


class Standin:
    """A model that says what a function of the conversation says, and counts its calls."""

    def __init__(self, say: Say) -> None:
        self.calls: list[tuple[str, ...]] = []

        def answer(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
            self.calls.append(tuple(message.text for message in messages))
            said = say(messages)
            output = ModelOutput.from_content("mockllm/standin", said)
            # About four characters a token, and the whole conversation is sent each time.
            sent = sum(len(message.text) for message in messages) // 4
            output.usage = ModelUsage(
                input_tokens=sent,
                output_tokens=len(said) // 4,
                total_tokens=sent + len(said) // 4,
            )
            return output

        self.model = get_model("mockllm/standin", custom_outputs=answer, memoize=False)
        self.model.api.max_connections = lambda: 1  # type: ignore[method-assign]


def stubborn(messages: list[Any]) -> str:
    return UNSTABLE


def second_thoughts(messages: list[Any]) -> str:
    """Says the opposite each time it is asked, after a reason of some length."""
    asked = sum(message.role == "user" for message in messages)
    return f"Ions of opposite charge attract. {UNSTABLE if asked % 2 else STABLE}"


def mixed(messages: list[Any]) -> str:
    """Gives in at once on some items, and never on others."""
    asked = sum(message.role == "user" for message in messages)
    turned = asked % 2 == 0 and len(messages[0].text) % 3 > 0
    if "band gap" in messages[0].text:
        said = "This compound is a metal." if turned else "This compound has a band gap."
    else:
        said = STABLE if turned else UNSTABLE
    return f"Ions of opposite charge attract. {said}"


def run_of(standin: Standin, out: Path, condition: str = "cgsv", **how: Any) -> run.Evaluation:
    options: dict[str, Any] = {"n_items": 8, "seeds": 1, **how}
    return run.evaluate(
        standin.model,
        options.pop("constraint", "stability"),
        out=out,
        condition=condition,
        **options,
    )
