"""``parallax lm score`` with checkpoints: one file of scores of a model during its training."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from analysis.errors import AnalysisError
from analysis.over_time.load import HistoryFacts, read_history_facts
from analysis.scores.check import check_scores
from analysis.scores.materials import (
    Sentences,
    collect_sentences,
    make_score_table,
    make_token_table,
)
from analysis.scores.scoring_inputs import Materials
from analysis.scores.shards import ShardCache, open_shard_cache
from experiment.errors import ParallaxError
from experiment.materials.render import render
from experiment.seeds import derive_seed
from experiment.tables.atomic_write import atomic_write
from experiment.tables.parquet import arrow_schema
from experiment.tables.schemas import SCORES_OVER_TIME
from experiment.version import code_version
from lm.checkpoints.find import Checkpoint, Training
from lm.errors import LmError
from lm.independent import find_splitter, recompute_scores
from lm.model_folder import model_identity
from lm.scorer import Scorer, TokenScores
from lm.sharding import Loading, load_for_scoring, make_shards

_SEED = 1
_CHECK_KEY = b"check"


@runtime_checkable
class PreparesTexts(Protocol):
    """A scorer whose prepared texts other models with its tokenizer score without repeated work."""

    tokenizer_hash: str

    def prepare(self, requests: Sequence[tuple[str, str]]) -> object:
        """Return requests as tokens, with their shared beginnings."""
        ...

    def score_prepared(self, texts: object) -> list[TokenScores]:
        """Return the scores of prepared requests."""
        ...


def score_over_time(trained: Training, materials: Materials, out: Path, loading: Loading) -> None:
    """Write the scores of all checkpoints into one file, and print a message.

    The texts are tokenised, and their shared beginnings found, once. After an interruption, the
    same call continues with the checkpoints that are missing.

    Args:
        trained: The training with its checkpoints.
        materials: The items.
        out: The file.
        loading: How to load the models.

    Raises:
        ParallaxError: The items cannot be scored.
        LmError: A model cannot be loaded, or its tokenizer is not that of the first.
    """
    first = _load(trained.checkpoints[0], loading)
    materials = materials.given_to(first)
    identities = [model_identity(checkpoint.model) for checkpoint in trained.checkpoints]
    facts = HistoryFacts(
        model=trained.label,
        trained_on=first.trained_on,
        model_hash=hashlib.sha256("".join(identities).encode()).hexdigest(),
        rendering=materials.rendering,
        study=materials.study,
        study_version=materials.version,
        materials_hash=materials.hash,
        code_version=code_version(),
        selection=materials.selection,
        reading="with each token alone hidden" if loading.pll == "original" else "",
        weights=loading.weights.in_words,
        family=trained.name,
        seed=trained.seed,
    )
    if _is_up_to_date(out, facts):
        click.echo(f"{out} already holds these scores")
        return
    with open_shard_cache(out, facts.model_dump() | {"packed": str(loading.packed)}) as cache:
        names = _score_missing(trained, materials, first, loading, cache)
        check = (cache.get(names[-1]).schema.metadata or {}).get(_CHECK_KEY, b"").decode()
        with (
            atomic_write(out) as temporary,
            pq.ParquetWriter(
                temporary, arrow_schema(SCORES_OVER_TIME), compression="zstd"
            ) as writer,
        ):
            for name in names:
                writer.write_table(cache.get(name).replace_schema_metadata(None))
            writer.add_key_value_metadata(facts.model_copy(update={"check": check}).model_dump())
    click.echo(
        f"{out}: {materials.n_versions:,} sentences of {materials.n_items:,} items scored by "
        f"{len(names)} checkpoints of {trained.label}, after {_describe_training(trained)} tokens"
    )
    if check:
        click.echo(f"The last checkpoint was checked: {check}.")


def _describe_training(trained: Training) -> str:
    first, last = trained.checkpoints[0], trained.checkpoints[-1]
    return f"{first.tokens_seen:,} to {last.tokens_seen:,}"


def _is_up_to_date(out: Path, facts: HistoryFacts) -> bool:
    try:
        stored = read_history_facts(out)
    except ParallaxError:
        return False
    return stored.model_copy(update={"check": ""}) == facts


def _load(checkpoint: Checkpoint, loading: Loading) -> Scorer:
    scorer = load_for_scoring(checkpoint.model, loading)
    if not isinstance(scorer, PreparesTexts):
        raise LmError(
            f"{checkpoint.model} is no model with checkpoints. Expected a recurrent model, or a "
            "causal or masked Hugging Face model."
        )
    return scorer


def _score_missing(
    trained: Training, materials: Materials, first: Scorer, loading: Loading, cache: ShardCache
) -> list[str]:
    """Score the checkpoints that the cache lacks; return the names of all shards in order."""
    assert isinstance(first, PreparesTexts)
    names = {f"{n:05}-{c.name}": c for n, c in enumerate(trained.checkpoints)}
    missing = cache.missing(list(names))
    if not missing:
        return list(names)
    items = list(materials.items())
    rendering = render(materials.rendering)
    noting = rendering if materials.study else materials.noting(rendering)
    sentences = collect_sentences(items, noting, materials.further)
    parts = make_shards(sentences.distinct)
    prepared = [first.prepare([("", sentences.distinct[n]) for n in part]) for part in parts]
    for name in tqdm(missing, desc=f"Scoring {trained.label}", unit=" checkpoints", disable=None):
        checkpoint = names[name]
        is_first = checkpoint == trained.checkpoints[0]
        scorer = first if is_first else _load(checkpoint, loading)
        assert isinstance(scorer, PreparesTexts)
        _refuse_other_tokenizer(first, scorer, trained.checkpoints[0], checkpoint)
        scored = [scorer.score_prepared(texts) for texts in prepared]
        table = _make_table(sentences, parts, scored, checkpoint)
        if checkpoint == trained.checkpoints[-1]:
            chunks = [
                (part, make_token_table([sentences.distinct[n] for n in part], scores))
                for part, scores in zip(parts, scored, strict=True)
            ]
            check = check_scores(
                items,
                sentences,
                chunks,
                make_score_table(sentences, chunks),
                rendering,
                partial(recompute_scores, checkpoint.model, loading=replace(loading)),
                np.random.default_rng(derive_seed(_SEED, "check of scores", materials.hash, 0)),
                materials.raw_texts(),
                find_splitter(checkpoint.model),
            )
            table = table.replace_schema_metadata({_CHECK_KEY: str(check or "")})
        cache.put(name, table)
    return list(names)


def _refuse_other_tokenizer(
    first: PreparesTexts, other: PreparesTexts, reference: Checkpoint, checkpoint: Checkpoint
) -> None:
    if first.tokenizer_hash != other.tokenizer_hash:
        raise LmError(
            f"{checkpoint.model} has another tokenizer than {reference.model}, so their scores are "
            "of other tokens. Expected checkpoints of one training; score the others separately."
        )


def _make_table(
    sentences: Sentences,
    parts: Sequence[Sequence[int]],
    scored: Sequence[Sequence[TokenScores]],
    checkpoint: Checkpoint,
) -> pa.Table:
    sums = np.empty(len(sentences.distinct))
    lengths, unknown = np.empty(len(sums), np.int64), np.empty(len(sums), np.int64)
    for part, scores in zip(parts, scored, strict=True):
        for index, score in zip(part, scores, strict=True):
            sums[index] = math.fsum(score.logprobs_nats)
            lengths[index], unknown[index] = len(score.tokens), int(score.unknown.sum())
    if not np.isfinite(sums).all():
        raise AnalysisError(
            "a sentence got no finite log-probability from a checkpoint",
            where=f'{checkpoint.model}, the sentence "'
            f'{sentences.distinct[int(np.flatnonzero(~np.isfinite(sums))[0])]}"',
            expected="the weights of a model whose training did not diverge",
        )
    row = sentences.of_row
    columns = {
        "checkpoint": pa.repeat(checkpoint.name, len(row)),
        "tokens_seen": pa.repeat(checkpoint.tokens_seen, len(row)),
        **{name: sentences.rows[name] for name in sentences.rows.column_names},
        "logprob_nats": sums[row],
        "n_tokens": lengths[row],
        "n_unknown": unknown[row],
    }
    return pa.table(columns).cast(arrow_schema(SCORES_OVER_TIME))
