"""Asking the model, once an item and seed; nothing is asked that the model can't read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfigArgs,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from matpcr_utils.evaluation import roster
from matpcr_utils.evaluation.providers import SETTINGS, MatPCRAPI

#: Key of `TaskState.metadata` that marks an item which the model was not asked.
UNSUPPORTED = "unsupported"

#: Key of `TaskState.metadata` that holds every answer of a conversation; see `record_of`.
ROUNDS_KEPT = "rounds"

#: How servers of text-only models refuse an image.
_NO_IMAGES = re.compile(
    r"not a multimodal model"
    r"|(?:does(?:n't| not)|do(?:n't| not)|not) support\w*(?:\s\w+){0,3}"
    r"\s(?:image|vision|multimodal)"
    r"|(?:image|vision|multimodal)\w*(?:\s\w+){0,4}\s(?:not supported|unsupported|not accepted)",
    re.IGNORECASE,
)


@solver
def ask() -> Solver:
    """Generate one answer; an image for a model that reads none is recorded as unsupported."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await answer(state, generate)

    return solve


async def answer(
    state: TaskState, generate: Generate, scopes: Mapping[str, str] | None = None
) -> TaskState:
    """Let the model answer the conversation as it stands, or record that it can't.

    Parameters
    ----------
    state, generate
        As a solver gets them.
    scopes : mapping of str to str, optional
        Names and values that keep this call's cached answer apart from those of other calls.
    """
    model = get_model()
    shows = has_image(state.messages)
    if shows and not reads_images(model):
        return _unsupported(state)
    options: GenerateConfigArgs = {}
    if isinstance(model.api, MatPCRAPI):
        # Epochs are seeds; the API models keep their provider's sampling (paper, 4.9).
        options["seed"] = state.epoch - 1
    policy = _scoped(scopes) if scopes else None
    if policy:
        options["cache"] = policy
    try:
        return await generate(state, **options)
    except Exception as error:
        if shows and _NO_IMAGES.search(str(error)):
            return _unsupported(state)
        raise


def _scoped(scopes: Mapping[str, str]) -> CachePolicy | None:
    """The run's own policy with the scopes added; None where the run keeps no cache."""
    from inspect_ai.model._generate_config import active_generate_config

    policy = active_generate_config().cache
    if not policy:
        return None
    policy = CachePolicy() if isinstance(policy, bool) else policy
    return policy.model_copy(update={"scopes": {**policy.scopes, **scopes}})


def has_image(messages: Sequence[ChatMessage]) -> bool:
    """Whether any message carries an image."""
    return any(
        isinstance(part, ContentImage)
        for message in messages
        if not isinstance(message.content, str)
        for part in message.content
    )


def reads_images(model: Model) -> bool:
    """Whether a model takes images, as far as is known; an unknown one is asked."""
    if isinstance(model.api, MatPCRAPI):
        return model.api.reads_images
    known = roster.reads_images(str(model))
    return True if known is None else known


def reasoning_of(output: ModelOutput) -> str:
    """The thoughts that a provider returns apart from the answer."""
    if not output.choices or isinstance(output.message.content, str):
        return ""
    parts = [p for p in output.message.content if isinstance(p, ContentReasoning)]
    return "\n".join(p.reasoning if not p.redacted else (p.summary or "") for p in parts).strip()


def stop_reason_of(output: ModelOutput) -> str:
    """Why an answer ends; a refusal in so many words counts as ``content_filter``."""
    if not output.choices:
        return ""
    content = output.message.content
    refused = not isinstance(content, str) and any(
        isinstance(part, ContentText) and part.refusal for part in content
    )
    return "content_filter" if refused else str(output.stop_reason)


def record_of(output: ModelOutput) -> dict[str, Any]:
    """What a transcript keeps of one answer, as JSON values."""
    usage = output.usage
    return {
        "chain": output.completion,
        "reasoning": reasoning_of(output),
        "stop_reason": stop_reason_of(output),
        "input_tokens": usage.input_tokens if usage else 0,
        "output_tokens": usage.output_tokens if usage else 0,
        "settings": dict((output.metadata or {}).get(SETTINGS, {})),
    }


def cache_policy() -> CachePolicy:
    """Answers are kept as long as the run's folder, a separate one for each seed."""
    return CachePolicy(expiry=None, per_epoch=True)


def _unsupported(state: TaskState) -> TaskState:
    state.metadata[UNSUPPORTED] = True
    state.output = ModelOutput(model=str(state.model))
    state.messages.append(ChatMessageAssistant(content=""))
    return state
