"""The Generate page, run by Streamlit."""

from functools import partial

import pytest

from headlight.errors import HeadlightError
from headlight_app.contract.question import Question
from headlight_app.generate import page as generate
from headlight_app.state import variants
from headlight_app.state.session import apply_reports, current_state
from headlight_app.state.url import encode_generated
from tests.app.asking import ask_worker
from tests.app.pages import alone, component_data, scripted


@pytest.mark.parametrize(("model", "kind"), [("next", "continue"), ("masked", "fill"), ("both", "continue")])
def test_every_model_that_writes_opens(model: str, kind: str) -> None:
    at = alone("generate", model=model)
    assert not at.exception
    data = component_data(at.main)
    assert (data["mode"], data["settings"]["model"], data["has_source"]) == (kind, model, model == "both")
    assert data["sampling"] == {"temperature": 0.8, "top_k": 0, "top_p": 1.0, "seed": 0}


def test_a_model_that_writes_nothing_says_what_can_be_done_instead() -> None:
    at = alone("generate", model="mood")
    assert not at.exception
    assert "labels" in at.info[0].value


def test_a_second_text_is_said_to_be_left_out_and_never_read_as_if_it_were_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generate, "reads_pair", lambda config: True)
    monkeypatch.setattr(variants, "reads_pair", lambda config: True)
    told = [info.value for info in alone("generate", model="masked", text_pair="the dog").info]
    assert told == ["Generate does not read the second text of Explore."]
    requests: dict[str, dict[str, int]] = {"generate": {}, "copying": {"position": 1, "token": 5}}
    for route, more in requests.items():
        with pytest.raises(HeadlightError, match="reads one text, not a pair"):
            ask_worker(route, model="masked", text="the [MASK]", text_pair="the dog", **more)


def test_an_address_restores_the_rule_and_what_was_written() -> None:
    written = encode_generated(Question(model="next", text="the dog"), ((2, 5), (3, 9)))
    data = component_data(
        alone("generate", model="next", text="the dog", sampling="t0.5,k7,p0.9,s3", generated=written).main
    )
    assert data["sampling"] == {"temperature": 0.5, "top_k": 7, "top_p": 0.9, "seed": 3}
    assert data["generated"] == [[2, 5], [3, 9]]
    assert component_data(alone("generate", model="next", text="the cat", generated=written).main)["generated"] == [], (
        "the tokens belong to another text"
    )


def test_what_the_component_reports_reaches_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        told = {"text": "the opening", "source": "", "masked_positions": [], "generated": []}
        question = Question(model="next", text="another text")
        apply_reports("generate", "the opening", "", partial(generate._read_report, question, told))
        current_state()

    rule = {"temperature": 1, "top_k": 3, "top_p": 1, "seed": 12}
    reported = {"layer": 1, "head": 0, "sampling": rule, "generated": [[2, 7]], "serial": 4}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = scripted(page)
    address = {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}
    mark = encode_generated(Question(model="next", text="the opening"), ((2, 7),))
    assert address == {"layer": "1", "head": "0", "sampling": "t1,k3,s12", "generated": mark}
