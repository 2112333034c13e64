"""The words of a refusal, in the question's language. They hold no word of any course.

A refusal names the spaces that were searched by the names that the asker knows them under, and
nothing else: a count, a title or a score of what was not shown would say that it exists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_EVIDENCE: Final = "no_evidence"  # nothing was ranked, or nothing reached the threshold
IDENTIFIER_ABSENT: Final = "identifier_absent"  # a code in the question stands in no source
PLACE_ABSENT: Final = "place_absent"  # the slide, page or exercise named is not there
EMPTY_SCOPE: Final = "empty_scope"  # the asker may search nothing
CLOSEST: Final = "closest"  # passages are near, none answers
INSUFFICIENT: Final = "insufficient_evidence"  # a proposal did not prove itself
DECLINED: Final = "declined"  # the profile itself says that the evidence does not answer
WITHDRAWN: Final = "withdrawn"  # a source left between retrieval and answer
NOT_READY: Final = "not_ready"  # no index yet, or one being built
NO_TOOL_CALL: Final = "no_tool_call"  # delivery by tool, and the model did not ask for its sources
EMPTY_QUESTION: Final = "empty_question"

_TEXTS = {
    "fr": {
        NO_EVIDENCE: "Je n'ai trouvé dans les sources consultées aucun passage qui permette de "
        "répondre à cette question.",
        IDENTIFIER_ABSENT: "La question nomme un code ou une référence que les sources consultées "
        "ne contiennent pas. Je préfère ne pas répondre.",
        PLACE_ABSENT: "Je n'ai pas trouvé dans les sources consultées l'endroit que la question "
        "désigne.",
        EMPTY_SCOPE: "Aucune source n'est ouverte à la recherche pour cette conversation.",
        CLOSEST: "Aucun passage ne répond directement à cette question. Voici les passages les "
        "plus proches, sans conclusion de ma part.",
        INSUFFICIENT: "Les sources consultées ne suffisent pas à prouver une réponse à cette "
        "question.",
        DECLINED: "Les passages trouvés ne permettent pas de répondre à cette question.",
        WITHDRAWN: "Une source nécessaire à la réponse vient d'être retirée ou n'est plus "
        "accessible. Posez de nouveau la question.",
        NOT_READY: "Les sources de ce cours sont en cours de préparation. Réessayez dans quelques "
        "instants.",
        NO_TOOL_CALL: "La réponse n'a pas été établie à partir des sources du cours ; elle n'est "
        "donc pas affichée.",
        EMPTY_QUESTION: "Écrivez une question.",
    },
    "en": {
        NO_EVIDENCE: "I found no passage in the sources searched that answers this question.",
        IDENTIFIER_ABSENT: "The question names a code or a reference that the sources searched do "
        "not contain. I would rather not answer.",
        PLACE_ABSENT: "I did not find in the sources searched the place that the question points "
        "at.",
        EMPTY_SCOPE: "No source is open to search for this conversation.",
        CLOSEST: "No passage answers this question directly. Here are the closest passages, "
        "without any claim on my part.",
        INSUFFICIENT: "The sources searched are not enough to prove an answer to this question.",
        DECLINED: "The passages found do not answer this question.",
        WITHDRAWN: "A source that the answer needs has just been withdrawn or is no longer open "
        "to you. Please ask again.",
        NOT_READY: "The sources of this course are being prepared. Try again in a moment.",
        NO_TOOL_CALL: "The answer was not drawn from the sources of the course, so it is not "
        "shown.",
        EMPTY_QUESTION: "Type a question.",
    },
}  # fmt: skip
_SEARCHED = {"fr": "Espaces consultés : ", "en": "Spaces searched: "}
_WITHOUT_SPACES = frozenset({EMPTY_SCOPE, EMPTY_QUESTION, NOT_READY})
REASONS = frozenset(_TEXTS["fr"])


def refusal_text(reason: str, language: str, spaces: Sequence[str] = ()) -> str:
    """What the asker reads; `spaces` are display names. An unknown reason reads as no evidence."""
    spoken = "en" if language == "en" else "fr"
    texts = _TEXTS[spoken]
    text = texts.get(reason, texts[NO_EVIDENCE])
    if not spaces or reason in _WITHOUT_SPACES:
        return text
    return f"{text}\n{_SEARCHED[spoken]}{', '.join(spaces)}."
