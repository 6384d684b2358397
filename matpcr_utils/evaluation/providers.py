"""Inspect AI's provider ``matpcr``: evaluees that need no key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Protocol

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from matpcr_utils.errors import MatPCRError
from matpcr_utils.evaluation.question import Question


@dataclass(frozen=True, slots=True)
class Answer:
    """What an evaluee says.

    Attributes
    ----------
    text : str
    stop_reason : str
        As Inspect's: ``stop``, ``max_tokens`` or ``model_length``.
    input_tokens, output_tokens : int
        0 for what is no language model.
    settings : mapping
        What this answer was made with, for the transcript; JSON values.
    """

    text: str
    stop_reason: StopReason = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


#: Key of `ModelOutput.metadata` that holds `Answer.settings`.
SETTINGS = "settings"


class Evaluee(Protocol):
    """What stands behind a name of this provider."""

    #: Whether it is asked items that show an image.
    READS_IMAGES: bool

    def answer(self, question: Question, config: GenerateConfig) -> Answer:
        """One answer; the same question and seed give the same words."""


#: Name of a model after ``matpcr/``, and the module whose ``create`` makes it.
EVALUEES = ("instrument", "guesser", "chance", "smollm2", "reviser")


class MatPCRAPI(ModelAPI):
    """An evaluee as Inspect AI asks it."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (Inspect's signature)
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in EVALUEES:
            raise MatPCRError(
                f"unknown evaluee matpcr/{model_name}: choose matpcr/ and {', '.join(EVALUEES)}"
            )
        create: Callable[..., Evaluee] = import_module(
            f"matpcr_utils.evaluation.evaluees.{model_name}"
        ).create
        try:
            self.evaluee = create(**model_args)
        except TypeError as error:
            raise MatPCRError(f"matpcr/{model_name} has no such setting: {error}") from None

    @property
    def reads_images(self) -> bool:
        """Whether items that show an image are asked."""
        return self.evaluee.READS_IMAGES

    def max_connections(self) -> int:
        """One: the work is done in this process."""
        return 1

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer the last user message; ``config.seed`` is the seed."""
        import anyio

        question = Question.of(input, config.seed)
        # In a thread, so that the display and the log keep moving.
        said = await anyio.to_thread.run_sync(self.evaluee.answer, question, config)
        output = ModelOutput.from_content(
            model=f"matpcr/{self.model_name}", content=said.text, stop_reason=said.stop_reason
        )
        output.usage = ModelUsage(
            input_tokens=said.input_tokens,
            output_tokens=said.output_tokens,
            total_tokens=said.input_tokens + said.output_tokens,
        )
        if said.settings:
            output.metadata = {SETTINGS: dict(said.settings)}
        return output


@modelapi(name="matpcr")
def matpcr() -> type[ModelAPI]:
    """The provider that Inspect AI finds by this name."""
    return MatPCRAPI
