"""Models judged by the oracles: six Inspect AI tasks, their scorers, and what comes out of a run.

`tasks`, `scorers` and `providers` are what Inspect sees (by the entry point, `_registry`); `run`
runs them as ``matpcr evaluate`` does; `results` turns logs, transcripts and chains made elsewhere
into one table; `roster` lists the paper's models.

Nothing is imported here: Inspect AI takes a second to load.
"""
