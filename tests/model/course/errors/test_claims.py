"""The list of claims leads to screens that are there, with inputs that they take."""

from collections import Counter

from headlight.course.chapters import CHAPTERS, find_screen
from headlight.course.errors.claims import CLAIMS, overview, reading
from headlight.course.pictures import Verdict
from tests.model.course.shown import compute, pictures

LINKS = [link for claims in CLAIMS.values() for claim in claims for link in claim.links]


def test_each_claim_has_a_screen_that_takes_its_inputs() -> None:
    assert all(len(overview(subject, 1)) == 1 + len(reading()) for subject in CLAIMS) and all(
        claim.links for claims in CLAIMS.values() for claim in claims
    )
    for link in LINKS:
        find_screen(link.chapter, link.screen).parse(dict(link.inputs))


def test_each_screen_of_the_chapter_is_reached_from_the_list() -> None:
    own = Counter(link.screen for link in LINKS if link.chapter == "errors")
    assert set(own) == {name for name in CHAPTERS["errors"].screens if name != "claims"}


def test_a_norm_without_epsilon_is_seen_to_fail() -> None:
    link = next(link for link in LINKS if link.screen == "layer-norm")
    screen = find_screen(link.chapter, link.screen)
    assert [said.good for said in pictures(compute(screen, **link.inputs), Verdict)] == [False]
