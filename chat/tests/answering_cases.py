"""Builders for the tests of the answering room: evidence, analyses and a deterministic embedder."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from chat.answering.types import Evidence, Matrix, Proposal, ProposedQuote, Request
from knowledge.retrieval.analysis import analyse
from knowledge.retrieval.language import index_terms

NPV = (
    "Définition : la valeur actuelle nette (VAN) est la somme des flux monétaires actualisés, "
    "moins l'investissement initial.\n"
    "Important : un projet est rentable si sa VAN est positive, sauf si le capital est rationné.\n"
    "Formule : $VAN = \\sum_{t=1}^{n} \\frac{F_t}{(1+k)^t} - I_0$"
)
IRR = (
    "Le taux de rendement interne (TRI) est le taux qui annule la VAN.\n"
    "Le TRI du projet Lachine est de 12,5 %.\n"
    "Il suppose que les flux sont réinvestis au même taux."
)


def evidence(number: int = 1, text: str = NPV, **fields: object) -> Evidence:
    """Evidence S<number> of chunk <number>, in its own document unless told otherwise."""
    values: dict[str, object] = {
        "tag": f"S{number}",
        "chunk_id": number,
        "public_id": f"doc{number}#1",
        "course": "IMM1003",
        "space": "official-imm1003",
        "document_id": number,
        "document": f"Document {number}",
        "path": f"seance{number}.tex",
        "session": 4,
        "slide": 10 + number,
        "title": "Critères de décision",
        "kind": "slide",
        "language": "fr",
        "text": text,
        "score": 1.0 / number,
    }
    return Evidence(**(values | fields))  # type: ignore[arg-type]


def proposal(*pairs: tuple[str, str]) -> Proposal:
    return Proposal(True, tuple(ProposedQuote(source, quote) for source, quote in pairs))


def everything(_: int) -> bool:
    return True


def embed(texts: list[str]) -> Matrix:
    """float32[n, 64], unit rows: words hashed to dimensions. Common words make near vectors."""
    out = np.full((len(texts), 64), 0.05, np.float32)
    for row, text in zip(out, texts, strict=True):
        for word in index_terms(text, "fr").split():
            row[crc32(word.encode()) % 64] += 1.0
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True), np.float32)


def request(question: str, *sources: Evidence, language: str = "fr") -> Request:
    return Request(
        analysis=analyse(question, default_language=language),
        evidence=sources,
        query_vector=embed([question])[0],
        embed=embed,
    )
