"""Models behind HTTP: every way an OpenAI-compatible server can answer, on the loopback address."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai_server as http
import pytest

from matpcr_utils import items
from matpcr_utils.evaluation import catalog, run

STABLE = "A salt of such ions lies deep. This phase is stable."


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Evaluate two items against a scripted server; returns the evaluation and the server."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def evaluate(reply: Any, constraint: str = "stability", **how: Any) -> tuple[Any, http.Server]:
        options: dict[str, Any] = {"n_items": 2, "seeds": 1, "max_retries": 1, **how}
        with http.serve(reply) as server:
            done = run.evaluate(
                "openai-api/local/test",
                constraint,
                out=options.pop("out", tmp_path / "run"),
                base_url=server.url,
                # The client's own retries off: those under test are Inspect's.
                model_args={"api_key": "none", "max_retries": 0},
                **options,
            )
        return done, server

    return evaluate


def test_text_items_arrive_as_words(ask: Callable[..., Any]) -> None:
    done, server = ask(lambda number, body: http.completion(STABLE))
    assert done.complete and len(server.requests) == 2
    asked = {server.words(n) for n in range(2)}
    assert asked == {items.prompt(item) for item in items.load("stability", 2)}
    assert server.images() == []
    assert set(done.table["chain"]) == {STABLE}
    assert set(done.table["outcome"]) <= {"consistent", "violation"}
    assert done.table["input_tokens"].tolist() == [11, 11]


def test_image_items_arrive_as_pixels(ask: Callable[..., Any]) -> None:
    done, server = ask(
        lambda number, body: http.completion("The strongest band is at 520 cm⁻¹."), "spectra"
    )
    sent = {base64.b64decode(server.images(n)[0].partition(",")[2]) for n in range(2)}
    assert sent == {items.image(item) for item in items.load("spectra", 2)}
    assert set(done.table["modality"]) == {"image"}
    assert not done.table["unsupported"].any()


def test_feedback_goes_to_the_server_as_a_conversation(ask: Callable[..., Any]) -> None:
    done, server = ask(lambda number, body: http.completion(STABLE), n_items=8, condition="cgsv")
    assert done.complete and len(server.requests) == len(done.table)
    assert set(done.table["condition"]) == {"cgsv-reason-2"}
    talks = [[(m["role"], _words(m)) for m in body["messages"]] for body in server.requests]
    longest = max(talks, key=len)
    assert [role for role, _ in longest] == ["user", "assistant", "user", "assistant", "user"]
    rows = done.table[done.table["round"] == 2]
    assert longest[4][1] in set(rows["message"]) and longest[1][1] == STABLE
    assert (rows["outcome"] == "violation").all() and (rows["input_tokens"] == 11).all()
    assert all(set(m) <= {"role", "content"} for body in server.requests for m in body["messages"])


def _words(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def test_images_stay_in_the_conversation(ask: Callable[..., Any]) -> None:
    far = http.completion("The strongest band is at 3333 cm⁻¹.")
    done, server = ask(lambda number, body: far, "spectra", n_items=3, condition="refine", rounds=1)
    later = [body for body in server.requests if len(body["messages"]) == 3]
    assert len(later) == 3 and set(done.table["modality"]) == {"image"}
    for body in later:
        kinds = [part["type"] for part in body["messages"][0]["content"]]
        assert kinds == ["text", "image_url"]


@pytest.mark.parametrize("status", [429, 500])
def test_a_refused_request_is_sent_again(ask: Callable[..., Any], status: int) -> None:
    def reply(number: int, body: dict[str, Any]) -> http.Reply:
        if number == 0:
            return http.failure(status, "not now", retry_after="0")
        return http.completion(STABLE)

    done, server = ask(reply, n_items=1)
    assert done.complete and len(server.requests) == 2
    assert done.table["error"].tolist() == [""]


def test_a_broken_server_is_an_error_row_and_the_next_call_asks_again(
    ask: Callable[..., Any], tmp_path: Path
) -> None:
    poor = catalog.load("stability", 2)

    def reply(number: int, body: dict[str, Any]) -> http.Reply:
        first = items.prompt(next(iter(poor.values())))
        words = body["messages"][-1]["content"]
        asked = words if isinstance(words, str) else words[0]["text"]
        return http.failure(500, "out of order") if asked == first else http.completion(STABLE)

    done, _ = ask(reply, out=tmp_path / "again", max_retries=0)
    assert not done.complete
    failed = done.table[done.table["reason"] == "error"]
    assert len(failed) == 1 and "500" in failed["error"].iloc[0]
    assert done.summary["errors"].tolist() == [1]
    assert done.summary["n"].tolist() == [1]  # the error enters no rate

    mended, server = ask(
        lambda number, body: http.completion(STABLE), out=tmp_path / "again", max_retries=0
    )
    assert mended.complete and len(server.requests) == 1
    assert mended.summary["n"].tolist() == [2]


def test_malformed_json_is_an_error_row(ask: Callable[..., Any]) -> None:
    done, _ = ask(lambda number, body: http.malformed(), n_items=1, max_retries=0)
    assert not done.complete
    assert done.table["reason"].tolist() == ["error"]
    assert "JSON" in done.table["error"].iloc[0]


@pytest.mark.parametrize(
    ("reply", "reason", "stop_reason"),
    [
        (http.completion(""), "no_answer", "stop"),
        (http.completion(None, refusal="I can't help with that."), "no_claim", "content_filter"),
        (
            http.completion("", finish_reason="length", reasoning="It might be unstable, or"),
            "no_answer",
            "max_tokens",
        ),
        (http.completion("The phase of", finish_reason="length"), "no_claim", "max_tokens"),
    ],
)
def test_answers_without_a_claim_are_not_checkable(
    ask: Callable[..., Any], reply: http.Reply, reason: str, stop_reason: str
) -> None:
    done, _ = ask(lambda number, body: reply, n_items=1)
    row = done.table.iloc[0]
    assert done.complete
    assert (row["outcome"], row["reason"], row["stop_reason"]) == ("abstain", reason, stop_reason)
    assert done.summary["n"].tolist() == [0]
    assert done.summary["coverage"].tolist() == [0]
    assert done.summary["pcr"].isna().all()


def test_thoughts_are_kept_apart_and_not_judged(ask: Callable[..., Any]) -> None:
    said = http.completion(f"<think>Unstable? The phase is unstable.</think>{STABLE}")
    done, _ = ask(lambda number, body: said, n_items=1)
    row = done.table.iloc[0]
    assert row["chain"] == STABLE
    assert "unstable" in row["reasoning"]
    assert (row["n_claims"], row["value"]) == (1, "stable")


def test_a_server_without_eyes_is_recorded_as_unsupported(ask: Callable[..., Any]) -> None:
    done, _ = ask(
        lambda number, body: http.failure(400, "local/test is not a multimodal model"), "spectra"
    )
    assert done.complete
    assert done.table["unsupported"].all() and set(done.table["error"]) == {""}
    assert done.summary["unsupported"].tolist() == [2]


def test_another_bad_request_is_an_error(ask: Callable[..., Any]) -> None:
    done, _ = ask(lambda number, body: http.failure(400, "image too large"), "spectra", n_items=1)
    assert not done.complete and not done.table["unsupported"].any()
    assert "too large" in done.table["error"].iloc[0]
