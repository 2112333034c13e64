"""People and courses are found by bare name, or by institution where a bare name is ambiguous."""

import pytest

from courses.enrolment import create_course, enrol, person_of
from courses.errors import CourseError
from courses.models import Institution, Membership
from courses.naming import default_institution, find_course, find_person


def test_the_demo_institution_wins_where_a_bare_name_fits_several(course, foreign_course):
    assert find_course("IMM1003") == course
    assert find_course("imm1003") == course
    assert find_course("lyre/IMM1003") == foreign_course


def test_a_name_that_fits_several_without_a_demo_asks_for_the_institution(db):
    for slug in ("un", "deux"):
        institution = Institution.objects.create(slug=slug, name=slug)
        create_course(code="X1", title="X", institution=institution)
    with pytest.raises(CourseError, match="deux/X1, un/X1"):
        find_course("X1")


def test_unknown_names_say_so(db):
    with pytest.raises(CourseError, match="no course named 'NOPE'"):
        find_course("NOPE")
    with pytest.raises(CourseError, match="no person named 'nobody'"):
        find_person("nobody")


def test_two_institutions_may_each_have_a_person_of_the_same_name(institution, other_institution):
    here = person_of("sam", institution)
    there = person_of("lyre/sam", other_institution)
    assert here != there
    assert find_person("sam") == here
    assert find_person("lyre/sam") == there
    assert there.username == "lyre/sam"


def test_a_bare_name_of_another_institution_is_never_enrolled_across(course, zoe):
    with pytest.raises(CourseError, match="demo/zoe"):
        enrol(name="zoe", course=course)
    assert not Membership.objects.filter(user=zoe, course=course).exists()


def test_enrolling_again_changes_the_role_and_ends_a_suspension(course, alice):
    Membership.objects.filter(user=alice).update(active=False)
    enrol(name="alice", course=course, role="assistant")
    membership = Membership.objects.get(user=alice, course=course)
    assert (membership.role, membership.active) == ("assistant", True)


def test_a_new_person_has_no_usable_password(course):
    assert not enrol(name="nora", course=course).user.has_usable_password()


def test_a_code_exists_once_in_an_institution(course, institution):
    with pytest.raises(CourseError, match="already exists"):
        create_course(code="imm1003", title="Encore", institution=institution)


@pytest.mark.parametrize("code", ["", "A B", "x" * 41, "a/b"])
def test_a_malformed_code_is_refused_with_a_reason(institution, code):
    with pytest.raises(CourseError):
        create_course(code=code, title="T", institution=institution)


def test_an_empty_installation_gets_an_institution_of_its_own(db):
    assert default_institution().slug == "main"
    assert default_institution().slug == "main"
    assert Institution.objects.count() == 1
