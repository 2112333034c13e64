"""The vectors of a generation as float32 blocks in memory, refreshed by what changed.

A document is one slice of one block, and documents stand in ascending order, so that a scope is
read as few contiguous runs. What a slice holds is known by the stamp it was read with: see
`schema.py`. Snapshots are never changed; a refresh makes a new one and old readers keep theirs.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knowledge.retrieval.types import RetrievalError, Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

log = logging.getLogger("preuve.retrieval")

Ids = NDArray[np.int64]
MAX_BLOCKS = 8
MAX_DEAD_SHARE = 0.25
KEPT_SNAPSHOTS = 4  # an active and a building generation, for two databases
UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of whole documents; the rows of one document are ordered by chunk id."""

    vectors: Vector
    chunks: Ids


@dataclass(frozen=True, slots=True)
class Slice:
    """Where a document lies, and the stamp of what was read. `problem`: it was left out."""

    stamp: int
    block: int
    start: int
    stop: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    dimension: int
    state: tuple[int, int] = (-1, 0)
    blocks: tuple[Block, ...] = ()
    slices: dict[int, Slice] = field(default_factory=dict)

    def runs(self, documents: Iterable[int]) -> list[tuple[Block, int, int]]:
        """The documents' rows as maximal contiguous runs."""
        found = sorted(
            (s.block, s.start, s.stop)
            for s in (self.slices.get(document) for document in documents)
            if s is not None and s.stop > s.start
        )
        merged: list[tuple[int, int, int]] = []
        for block, start, stop in found:
            if merged and merged[-1][0] == block and merged[-1][2] == start:
                merged[-1] = (block, merged[-1][1], stop)
            else:
                merged.append((block, start, stop))
        return [(self.blocks[block], start, stop) for block, start, stop in merged]


class MatrixCache:
    """Snapshots per (database, generation). Safe for threads that each bring a connection."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, int], Snapshot] = OrderedDict()
        self._refreshing: dict[tuple[str, str, int], threading.Lock] = {}
        self._lock = threading.Lock()

    def snapshot(self, conn: sqlite3.Connection, generation: int) -> Snapshot:
        """The generation exactly as `conn` sees it now, its own uncommitted writes included."""
        identity, *state = state_of(conn)
        path = str(conn.execute("PRAGMA database_list").fetchone()[2] or "")
        key = (path, str(identity), generation)
        seen = (int(state[0]), int(state[1]))
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
            refreshing = self._refreshing.setdefault(key, threading.Lock())
        if kept is not None and kept.state == seen:
            return kept
        with refreshing:
            with self._lock:
                kept = self._kept.get(key)
            if kept is None or kept.state != seen:
                kept = refresh(conn, generation, kept, seen)
                with self._lock:
                    self._kept[key] = kept
                    self._kept.move_to_end(key)
                    while len(self._kept) > KEPT_SNAPSHOTS:
                        old, _ = self._kept.popitem(last=False)
                        self._refreshing.pop(old, None)
        return kept

    def forget(self, generation: int) -> None:
        with self._lock:
            for key in [key for key in self._kept if key[2] == generation]:
                del self._kept[key]


def state_of(conn: sqlite3.Connection) -> tuple[str, int, int]:
    """(identity, version, stamp) of the index. Raises RetrievalError when there is none."""
    try:
        row = conn.execute(
            "SELECT identity, version, stamp FROM retrieval_state WHERE id = 1"
        ).fetchone()
    except sqlite3.OperationalError as error:
        msg = "The index tables are missing. Run: manage.py migrate"
        raise RetrievalError(msg) from error
    if row is None:
        msg = "The index has no state row. Run: manage.py migrate"
        raise RetrievalError(msg)
    return row[0], row[1], row[2]


def refresh(
    conn: sqlite3.Connection, generation: int, kept: Snapshot | None, state: tuple[int, int]
) -> Snapshot:
    """`kept` with the documents whose stamp changed read again. `state` was read before."""
    known = conn.execute(
        "SELECT dimension FROM retrieval_generations WHERE generation = ?", (generation,)
    ).fetchone()
    dimension = int(known[0]) if known else 0
    if kept is None or kept.dimension != dimension:
        kept = Snapshot(dimension)
    stamps: dict[int, int] = dict(
        conn.execute(
            "SELECT document_id, stamp FROM retrieval_stamps WHERE generation = ?"
            " ORDER BY document_id",
            (generation,),
        )
    )
    slices = {d: s for d, s in kept.slices.items() if stamps.get(d) == s.stamp}
    changed = [document for document in stamps if document not in slices]
    blocks = kept.blocks
    if changed:
        block, read = _read(conn, generation, changed, dimension, len(blocks))
        slices.update(read)
        blocks = (*blocks, block)
    return _compact(Snapshot(dimension, state, blocks, slices))


def _read(
    conn: sqlite3.Connection,
    generation: int,
    documents: Sequence[int],
    dimension: int,
    number: int,
) -> tuple[Block, dict[int, Slice]]:
    """One block of the documents' rows. Stamps and rows come from one statement, so they agree."""
    rows = conn.execute(
        "SELECT s.document_id, s.stamp, v.chunk_id, v.vector"
        " FROM json_each(?) j"
        " CROSS JOIN retrieval_stamps s ON s.generation = ? AND s.document_id = j.value"
        " CROSS JOIN retrieval_vectors v INDEXED BY retrieval_vectors_document"
        " ON v.generation = s.generation AND v.document_id = s.document_id"
        " ORDER BY s.document_id, v.chunk_id",
        (json.dumps(sorted(documents)), generation),
    )
    parts: list[Vector] = []
    chunks: list[int] = []
    slices: dict[int, Slice] = {}
    for (document, stamp), group in groupby(rows, key=itemgetter(0, 1)):
        members = list(group)
        vectors, problem = _decode([(row[2], row[3]) for row in members], dimension)
        if vectors is None:
            log.error("index_document_damaged document=%s generation=%s", document, generation)
            slices[document] = Slice(stamp, number, 0, 0, problem)
            continue
        slices[document] = Slice(stamp, number, len(chunks), len(chunks) + len(members))
        chunks.extend(row[2] for row in members)
        parts.append(vectors)
    stacked = np.concatenate(parts) if parts else np.empty((0, dimension), np.float32)
    return Block(np.ascontiguousarray(stacked), np.array(chunks, np.int64)), slices


def _decode(rows: Sequence[tuple[int, object]], dimension: int) -> tuple[Vector | None, str]:
    """float32[n, dimension], or None and what is wrong with which chunk."""
    for chunk, blob in rows:
        problem = vector_problem(blob, dimension)
        if problem:
            return None, f"chunk {chunk}: {problem}"
    whole = b"".join(bytes(blob) for _, blob in rows if isinstance(blob, bytes))
    return np.frombuffer(whole, "<f4").reshape(len(rows), dimension).astype(np.float32), ""


def vector_problem(blob: object, dimension: int) -> str:
    """What makes `blob` no stored vector of this dimension; empty when it is one."""
    if not isinstance(blob, bytes) or len(blob) != 4 * dimension:
        size = len(blob) if isinstance(blob, bytes) else "no"
        return f"vector of {size} bytes instead of {4 * dimension}"
    norm = float(np.linalg.norm(np.frombuffer(blob, "<f4").astype(np.float64)))
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:  # not a number fails too
        return f"vector of length {norm:.3g} instead of 1"
    return ""


def _compact(snapshot: Snapshot) -> Snapshot:
    """One block again when there are many, or when much of them is no longer used."""
    rows = sum(len(block.chunks) for block in snapshot.blocks)
    live = sum(s.stop - s.start for s in snapshot.slices.values())
    if len(snapshot.blocks) <= MAX_BLOCKS and rows - live <= MAX_DEAD_SHARE * max(rows, 1):
        return snapshot
    vectors: list[Vector] = [np.empty((0, snapshot.dimension), np.float32)]
    chunks: list[Ids] = [np.empty(0, np.int64)]
    slices: dict[int, Slice] = {}
    start = 0
    for document, old in sorted(snapshot.slices.items()):
        block = snapshot.blocks[old.block]
        vectors.append(block.vectors[old.start : old.stop])
        chunks.append(block.chunks[old.start : old.stop])
        stop = start + old.stop - old.start
        slices[document] = Slice(old.stamp, 0, start, stop, old.problem)
        start = stop
    whole = Block(np.concatenate(vectors), np.concatenate(chunks))
    return Snapshot(snapshot.dimension, snapshot.state, (whole,), slices)


def exact_cosines(vectors: Vector, query: Vector) -> NDArray[np.float64]:
    """Cosines with double accumulation, clamped to [-1, 1].

    Each row is summed by itself, so its cosine does not depend on the rows around it: what others
    add to the index moves no bit of it. A BLAS product does not promise that.
    """
    rows = vectors.astype(np.float64)
    asked = query.astype(np.float64)
    dots = np.multiply(rows, asked).sum(axis=1)
    norms = np.sqrt(np.multiply(rows, rows).sum(axis=1)) * np.sqrt(np.multiply(asked, asked).sum())
    cosines: NDArray[np.float64] = np.clip(dots / norms, -1.0, 1.0)
    return cosines


def nearest(
    runs: Sequence[tuple[Block, int, int]], query: Vector, k: int, hidden: frozenset[int]
) -> list[tuple[int, float]]:
    """The k rows of highest cosine, ties by chunk id, as (chunk, cosine).

    A float32 product finds every row that can be among them: its error is below
    dimension x 2^-23, so all rows within twice that of the k-th are scored again in double.
    """
    if not runs or k <= 0:
        return []
    chunks = np.concatenate([block.chunks[start:stop] for block, start, stop in runs])
    fast = np.concatenate([block.vectors[start:stop] @ query for block, start, stop in runs])
    if hidden:
        shown = ~np.isin(chunks, np.fromiter(hidden, np.int64, len(hidden)))
        places = np.flatnonzero(shown)
    else:
        places = np.arange(len(chunks))
    if not len(places):
        return []
    scores = fast[places]
    if len(scores) > k:
        limit = np.partition(scores, len(scores) - k)[len(scores) - k]
        margin = 2 * len(query) * 2.0**-23
        places = places[scores >= limit - margin]
    bounds = np.cumsum([0, *(stop - start for _, start, stop in runs)])
    which = np.searchsorted(bounds, places, side="right") - 1
    rows = np.stack(
        [
            runs[run][0].vectors[runs[run][1] + place - bounds[run]]
            for run, place in zip(which.tolist(), places.tolist(), strict=True)
        ]
    )
    cosines = exact_cosines(rows, query)
    order = np.lexsort((chunks[places], -cosines))[:k]
    return [(int(chunks[places[i]]), float(cosines[i])) for i in order]
