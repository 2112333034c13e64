"""The conversation page in a real Chromium, against a real uvicorn."""

import threading

import pytest
from django.core.cache import cache
from django.db import connections
from playwright.sync_api import expect, sync_playwright

from chat.models import Turn
from chat.tests.scenes import MATERIAL, asked

pytestmark = pytest.mark.browser

QUESTION = "Qu'est-ce que le ratio prêt-valeur ?"
LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def site(live_asgi, alice, course, publish_text):
    """The address of a product with one course, its material and alice."""
    cache.clear()
    publish_text(course, MATERIAL)
    return live_asgi


@pytest.fixture
def open_page(site):
    """Opens a signed-in page. Whatever the page's policy or script complains of fails the test."""
    complaints = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )

        def open_one(viewport=LAPTOP, *, script=True, locale="fr-CA"):
            context = browser.new_context(
                base_url=site, viewport=viewport, java_script_enabled=script, locale=locale
            )
            context.set_default_timeout(20_000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on(
                "console",
                lambda message: (
                    complaints.append(message.text)
                    if "Content Security Policy" in message.text
                    else None
                ),
            )
            page.goto("/sign-in/")
            page.locator("#id_username").fill("alice")
            page.locator("#id_password").fill("cast-of-the-tests")
            page.locator("button.primary").click()
            page.wait_for_url("**/")
            return page

        yield open_one
        browser.close()
    assert not complaints


def start(page):
    page.goto("/")
    page.locator("a.card").first.click()
    page.get_by_role("button", name="Nouvelle conversation").click()
    page.wait_for_url("**/conversations/*/")  # loaded, so that the script has run
    return page


def ask(page, question, status="answered"):
    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")
    turn = page.locator(f"article[data-status={status}]").last
    expect(turn).to_be_visible()
    return turn


def assert_no_sideways_scroll(page):
    sizes = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert sizes[0] <= sizes[1], (page.url, sizes)


def test_a_student_asks_and_opens_the_proof(open_page):
    page = start(open_page())
    turn = ask(page, QUESTION)
    expect(page.locator("h1")).to_have_text(QUESTION)
    expect(turn.locator(".answer")).to_contain_text("rapport entre le montant du prêt")
    expect(turn.locator(".source-link").first).to_contain_text("IMM1003")
    turn.locator(".answer .tag").first.click()
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_contain_text("Le ratio prêt-valeur")
    expect(panel.locator("mark").first).to_contain_text("rapport entre le montant du prêt")
    formula = panel.locator(".slide math").first
    assert formula.bounding_box()["height"] > 20  # a fraction is drawn, not a line of code
    before, after = panel.locator("details.neighbour").all()
    expect(before).to_contain_text("Objectifs")
    expect(before.locator(".slide-body")).to_be_hidden()
    before.locator("summary").click()
    expect(before.locator(".slide-body")).to_contain_text("avant de prêter")
    expect(after).to_contain_text("Les seuils des prêteurs")
    after.locator("summary").click()
    expect(after.locator("table")).to_be_visible()


def test_the_page_stays_readable_beside_the_open_panel(open_page):
    page = start(open_page())
    turn = ask(page, QUESTION)
    turn.locator(".answer .tag").first.click()
    panel = page.locator("#panel")
    expect(panel).to_be_visible()
    answer = turn.locator(".answer").bounding_box()
    assert answer["x"] + answer["width"] <= panel.bounding_box()["x"]
    assert_no_sideways_scroll(page)
    page.locator("#question").fill("Et ensuite ?")  # the page is not blocked
    page.locator("#panel-close").click()
    expect(panel).to_be_hidden()


def test_the_keyboard_alone_is_enough(open_page):
    page = start(open_page())
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("#question").focus()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    turn = page.locator("article[data-status=answered]")
    expect(turn).to_be_visible()
    expect(page.locator("#question")).to_be_focused()
    expect(page.locator("#status")).to_have_text("La réponse est prête.")
    tag = turn.locator(".answer .tag").first
    for _ in range(20):
        page.keyboard.press("Shift+Tab")
        if tag.evaluate("tag => tag === document.activeElement"):
            break
    expect(tag).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel .source-name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(tag).to_be_focused()


def test_a_phone_shows_every_page_without_sideways_scroll(open_page):
    page = open_page(PHONE)
    assert_no_sideways_scroll(page)
    start(page)
    assert_no_sideways_scroll(page)
    turn = ask(page, QUESTION)
    assert_no_sideways_scroll(page)
    turn.locator(".answer .tag").first.click()
    panel = page.locator("#panel")
    expect(panel.locator("mark").first).to_be_visible()
    for neighbour in panel.locator("details.neighbour summary").all():
        neighbour.click()
    assert_no_sideways_scroll(page)
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    assert panel.bounding_box()["width"] == PHONE["width"]
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    page.goto(turn.locator(".answer .tag").first.get_attribute("href"))
    expect(page.locator("h1")).to_contain_text("Le ratio prêt-valeur")
    assert_no_sideways_scroll(page)
    page.goto("/")
    expect(page.locator(".row")).to_contain_text(QUESTION)
    assert_no_sideways_scroll(page)


def test_a_refusal_offers_to_rephrase(open_page):
    page = start(open_page())
    question = "Quelle est la recette de la pâte à crêpes ?"
    turn = ask(page, question, "refused")
    expect(turn).to_contain_text("Sans preuve, pas de réponse")
    expect(turn).to_contain_text("IMM1003")
    turn.locator(".rephrase").click()
    expect(page.locator("#question")).to_have_value(question)
    expect(page.locator("#question")).to_be_focused()


def test_without_a_script_the_forms_and_links_do_it_all(open_page):
    page = start(open_page(script=False))
    page.locator("#question").fill(QUESTION)
    page.locator("#send").click()
    turn = page.locator("article[data-status=answered]")
    expect(turn).to_contain_text("rapport entre le montant du prêt")
    assert page.url.endswith("#turn-1")
    turn.locator(".answer .tag").first.click()
    expect(page.locator("h1")).to_contain_text("Le ratio prêt-valeur")
    expect(page.locator("mark").first).to_be_visible()
    page.get_by_role("link", name="Retour à la réponse").click()
    expect(page.locator("article[data-status=answered]")).to_be_visible()


def test_what_is_not_taken_is_said_and_the_text_kept(open_page, settings):
    page = start(open_page())
    settings.QUESTION_MAX_CHARACTERS = 20
    page.locator("#question").fill("Une question beaucoup trop longue")
    page.locator("#send").click()
    expect(page.locator("#problem")).to_contain_text("la limite est de 20")
    expect(page.locator("#question")).to_have_value("Une question beaucoup trop longue")
    expect(page.locator("article.turn")).to_have_count(0)


def test_a_lost_connection_keeps_the_question(open_page):
    page = start(open_page())
    page.context.set_offline(True)
    page.locator("#question").fill(QUESTION)
    page.locator("#send").click()
    expect(page.locator("#problem")).to_contain_text("La connexion a été perdue")
    expect(page.locator("#question")).to_have_value(QUESTION)
    page.context.set_offline(False)
    ask(page, QUESTION)


def test_text_that_looks_like_a_page_stays_text(open_page):
    page = start(open_page())
    hostile = "<img src=x onerror=document.title='taken'> <b>gras</b> ?"
    turn = ask(page, hostile, "refused")
    expect(turn.locator(".question")).to_have_text(hostile)
    assert turn.locator(".question img, .question b").count() == 0
    assert page.title() != "taken"


@pytest.fixture
def pending(alice, course):
    return asked(alice, course)


def test_a_turn_answered_elsewhere_is_followed(pending, open_page):
    page = open_page()
    page.goto(f"/conversations/{pending.conversation_id}/")
    expect(page.locator("article[data-status=pending]")).to_be_visible()

    def refuse():
        Turn.objects.filter(pk=pending.pk).update(status="refused", answer="Rien à ce sujet.")
        connections.close_all()

    elsewhere = threading.Thread(target=refuse)
    elsewhere.start()
    elsewhere.join()
    expect(page.locator("article[data-status=refused]")).to_contain_text("Rien à ce sujet.")


def test_the_interface_changes_language_and_stays_on_the_page(open_page):
    page = start(open_page())
    address = page.url
    page.locator(".languages button", has_text="EN").click()
    expect(page.locator("#send")).to_have_text("Ask")
    assert page.url == address
    expect(page.locator("html")).to_have_attribute("lang", "en")
