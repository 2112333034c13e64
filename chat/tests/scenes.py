"""A deck, conversations and recorded turns for the tests of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chat.models import Citation, Conversation, Turn
from knowledge.models import Chunk, Document, Space
from knowledge.rendering.mathml import math_html

if TYPE_CHECKING:
    from courses.models import Course, User

RATIO = (
    "Le ratio prêt-valeur compare le prêt à la valeur de l'immeuble.",
    "Le prêteur retient la plus faible des deux valeurs.",
)
FORMULA = r"\frac{\text{prêt}}{\text{valeur}}"


def deck(course: Course, *, kind: str = "official", path: str = "seance-04.tex") -> Document:
    """Slides 7 « Objectifs », 8 « Le ratio prêt-valeur » with a formula and 9 « Les seuils »."""
    space = Space.objects.get(course=course, kind=kind)
    document = Document.objects.create(
        space=space, path=path, title="Les ratios du prêteur", kind="slides", session=4, sha256="0"
    )
    formula = f"$${FORMULA}$$"
    slides = (
        ("Objectifs", "Comprendre les deux ratios du prêteur.", None),
        (
            "Le ratio prêt-valeur",
            f"{RATIO[0]}\n{formula}\n{RATIO[1]}",
            f"<p>{RATIO[0]}</p><p>{math_html(FORMULA, display=True)}</p><p>{RATIO[1]}</p>",
        ),
        ("Les seuils", "Un multilogement demande un ratio de 75 %.", None),
    )
    for position, (title, text, display) in enumerate(slides, start=1):
        Chunk.objects.create(
            document=document,
            ordinal=position,
            position=position,
            key=title,
            kind="slide",
            title=title,
            section="Les deux ratios",
            session=4,
            slide=6 + position,
            text=text,
            display=display or f"<p>{text}</p>",
            search=text,
        )
    return document


def asked(
    person: User, course: Course, question: str = "Qu'est-ce que le ratio ?", **values: Any
) -> Turn:
    """A turn in a new conversation of the person; pending unless said otherwise."""
    conversation = Conversation.open(user=person, course=course, title=question[:80])
    return Turn.objects.create(
        conversation=conversation, ordinal=1, question=question, mode="extractive", **values
    )


def answered(person: User, course: Course, document: Document, **values: Any) -> Turn:
    """A turn with two pieces: [S1] quotes slide 8, [S2] slide 9."""
    pieces = [
        {"text": f"{RATIO[0]} [S1]", "tags": ["S1"]},
        {"text": "\nUn multilogement demande un ratio de 75 %. [S2]", "tags": ["S2"]},
    ]
    values = {"status": "answered", "origin": "course", "pieces": pieces, "language": "fr"} | values
    turn = asked(person, course, **values)
    chunks = list(document.chunks.order_by("position"))
    cite(turn, "S1", chunks[1], RATIO[0])
    cite(turn, "S2", chunks[2], chunks[2].text)
    return turn


def cite(turn: Turn, tag: str, chunk: Chunk, quote: str, **values: Any) -> Citation:
    document = chunk.document
    start = chunk.text.index(quote)
    course = document.space.course
    return Citation.objects.create(
        turn=turn,
        tag=tag,
        chunk=chunk,
        document=document,
        chunk_public_id=chunk.public_id,
        quote=quote,
        text=chunk.text,
        start=start,
        end=start + len(quote),
        course_code=course.code if course else "",
        space_slug=document.space.slug,
        path=document.path,
        document_title=document.title,
        title=chunk.title,
        session=chunk.session,
        slide=chunk.slide,
        locator=f"Diapositive {chunk.slide}",
        **values,
    )


MATERIAL = f"""# Objectifs

Comprendre les deux ratios que le prêteur calcule avant de prêter.

# Le ratio prêt-valeur

Le ratio prêt-valeur est le rapport entre le montant du prêt et la valeur de l'immeuble donné en
garantie. Il se calcule ainsi :

$${FORMULA}$$

Le prêteur retient le moins élevé du prix payé et de la valeur marchande établie par un évaluateur.

# Les seuils des prêteurs

| Immeuble | Ratio maximal | Couverture minimale | Amortissement le plus long |
| --- | --- | --- | --- |
| Maison unifamiliale non assurée | 80 % | sans objet | 30 ans |
| Multilogement conventionnel | 75 % | 1,20 | 25 ans |
"""
