"""Chats: ids, roles and answers equal to those of transformers' `apply_chat_template`, and hostile templates."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from headlight import Chat, Message, generate, load, run
from headlight.checkpoints.file_rules import CONFIG_FILES
from headlight.checkpoints.tokenizers.chat_template import PROCESSOR_TEMPLATE_FILE, TEMPLATE_FILE
from headlight.cli.main import main
from headlight.errors import CheckpointError, TextError
from headlight.text.chat import ChatTemplate
from tests.families.decoders import GPT2, LLAMA
from tests.families.encoders import T5
from tests.families.gguf_files import SIZES, small, write
from tests.families.reference import Case, build

CHATML = (
    "{% for message in messages %}{{ '[CLS] ' + message['role'] + ' ' }}{{ message.content | trim }}[SEP]\n"
    "{% endfor %}{% if add_generation_prompt %}[CLS] old{% endif %}"
)
WITH_BEGINNING = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set told = messages[0]['content'] | trim + ' by ' %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set told = '' %}{%- set rest = messages %}
{%- endif %}
{%- for message in rest %}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('Roles must alternate') }}
    {%- endif %}
    {%- if message['role'] == 'assistant' %}
        {%- generation %} red {{ message['content'] }}{{ eos_token }}{% endgeneration %}
    {%- else %} two {{ told if loop.first }}{{ message['content'] }} far{% endif %}
{%- endfor %}
{%- if add_generation_prompt %} red{% endif %}"""
TEMPLATES = {"chatml": CHATML, "with a beginning": WITH_BEGINNING}
CASES = {
    "llama": Case("LlamaForCausalLM", LLAMA | {"max_position_embeddings": 61}, special=True),
    "gpt2": Case("GPT2LMHeadModel", GPT2 | {"n_positions": 61}, special=True),
}
CHAT = "system: run far\nuser: the cat\nassistant: sat on a mat\nuser: two dogs run"
TOKENS = {"bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]"}


def folder(path: Path, family: str, template: Any, inside: bool = True) -> Any:
    """A checkpoint with a chat template in tokenizer_config.json, or in a file of its own."""
    model = build(CASES[family], path)
    fields = {"tokenizer_class": "PreTrainedTokenizerFast", **TOKENS, **({"chat_template": template} if inside else {})}
    (path / "tokenizer_config.json").write_text(json.dumps(fields))
    if not inside:
        (path / "chat_template.jinja").write_text(template)
    return model


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("family", CASES)
def test_a_chat_is_read_as_its_template_says(family: str, name: str, inside: bool, tmp_path: Path) -> None:
    model = folder(tmp_path, family, TEMPLATES[name], inside)
    words: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    opened, chat = load(tmp_path), Chat.from_text(CHAT)
    messages = [message._asdict() for message in chat.messages]
    ids = words.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    traced = run(opened.model, opened.tokenizer, chat)
    assert list(traced.text.ids) == ids
    with torch.no_grad():
        answer = model(torch.tensor([ids]))
    assert traced.logits is not None
    np.testing.assert_allclose(traced.logits, answer.logits[0], atol=1e-4)
    said = zip(traced.text.roles, traced.text.token_texts, strict=True)
    assert [text for role, text in said if role == "user"] == ["the", "cat", "two", "dogs", "run"]
    given = {"attention_mask": torch.ones(1, len(ids), dtype=torch.long), "pad_token_id": 0, "eos_token_id": None}
    written = model.generate(torch.tensor([ids]), max_new_tokens=3, do_sample=False, **given)
    steps = [*generate(opened.model, opened.tokenizer, chat, steps=3, temperature=0.0)]
    assert [step.chosen_token for step in steps] == written[0, len(ids) :].tolist()[: len(steps)]
    if len(steps) > 1:
        assert steps[1].text.roles[-1] == "assistant"


def test_templates_beside_a_tokenizer_are_read_and_uploaded(tmp_path: Path) -> None:
    folder(tmp_path, "llama", CHATML, inside=False)
    (tmp_path / "chat_template.jinja").rename(tmp_path / "old.txt")
    assert load(tmp_path).tokenizer.chat_template is None
    (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": CHATML}))
    assert load(tmp_path).tokenizer.chat_template == ChatTemplate(CHATML, TOKENS)
    assert {*CONFIG_FILES} >= {TEMPLATE_FILE, PROCESSOR_TEMPLATE_FILE}


def test_a_gguf_file_has_its_template_and_the_tokens_that_it_names(tmp_path: Path) -> None:
    template = WITH_BEGINNING.replace("raise_exception('Roles must alternate')", "'cat'")
    model = small(("llama", "LlamaForCausalLM", SIZES))
    path = write(model, "llama", tmp_path, tokenizer__chat_template=template)
    words: Any = transformers.AutoTokenizer.from_pretrained(tmp_path, gguf_file=path.name)
    opened, chat = load(path), Chat.from_text(CHAT)
    messages = [message._asdict() for message in chat.messages]
    assert opened.tokenizer.chat_template is not None
    text, _ = opened.tokenizer.chat_template.render(chat)
    assert text.startswith("<s>") and "</s>" in text
    assert text == words.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = opened.tokenizer.encode_chat(chat).ids
    assert ids[0] == 1 and ids.count(1) == 1 and ids.count(2) == text.count("</s>")
    write(model, "llama", tmp_path, tokenizer__chat_template=7)
    with pytest.raises(CheckpointError, match="its chat_template is '7'; wanted a text"):
        load(path)


def test_no_answer_is_asked_for_after_one_of_the_assistant(tmp_path: Path) -> None:
    folder(tmp_path, "llama", CHATML)
    words: Any = transformers.AutoTokenizer.from_pretrained(tmp_path)
    chat = Chat((Message("user", "the cat"), Message("assistant", "sat")))
    ids = words.apply_chat_template([message._asdict() for message in chat.messages], return_dict=False)
    assert list(load(tmp_path).tokenizer.encode_chat(chat).ids) == ids


@pytest.mark.parametrize("wrong", [7, {"default": 7}, [{"name": "default", "template": ["the"]}]])
def test_a_template_that_is_no_text_is_refused(wrong: Any, tmp_path: Path) -> None:
    folder(tmp_path, "gpt2", wrong)
    with pytest.raises(CheckpointError, match=r"its chat_template is .*; wanted a text"):
        load(tmp_path)


def test_the_command_reads_a_chat(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder(tmp_path, "llama", CHATML)
    opened = load(tmp_path)
    assert main(["predict", CHAT, "--chat", "--model", str(tmp_path), "--top", "1"]) == 0
    probabilities = run(opened.model, opened.tokenizer, Chat.from_text(CHAT)).probabilities(-1)
    assert f"{100 * probabilities.max():.1f} %" in capsys.readouterr().out


def test_a_model_without_a_template_says_so(tmp_path: Path) -> None:
    build(CASES["gpt2"], tmp_path)
    opened = load(tmp_path)
    with pytest.raises(TextError, match="has no default chat template"):
        run(opened.model, opened.tokenizer, Chat.from_text("the cat"))


def test_an_encoder_decoder_reads_no_chat(tmp_path: Path) -> None:
    build(Case("T5ForConditionalGeneration", T5), tmp_path)
    opened, chat = load(tmp_path), Chat.from_text("the cat")
    for text, source in (("the", chat), (chat, "the")):
        with pytest.raises(TextError, match="reads no chat"):
            run(opened.model, opened.tokenizer, text, source=source)


def test_lines_begin_messages() -> None:
    assert Chat.from_text("the cat\n\nassistant:sat\n on\n user: two: dogs").messages == (
        Message("user", "the cat"), Message("assistant", "sat\n on"), Message("user", "two: dogs"),
    )  # fmt: skip
    with pytest.raises(TextError, match="has no message"):
        Chat.from_text("user:  \nsystem:")


HOSTILE = {
    "{{ ''.__class__.__mro__ }}": "is unsafe",
    "{{ messages.append(1) }}": "is unsafe",
    "{{ cycler.__init__.__globals__ }}": "is unsafe",
    "{% for": "fails at this chat",
    "{{ raise_exception('No system message') }}": "No system message",
    "{{ nothing.here }}": "fails at this chat",
    "{% for i in range(90) %}{{ 'the ' * 1000 }}{% endfor %}": "writes 360,000 characters",
    "{% include 'tokenizer.json' %}": "fails at this chat",
}


@pytest.mark.parametrize("source", HOSTILE)
def test_a_hostile_template_ends_in_a_sentence(source: str) -> None:
    with pytest.raises(TextError, match=HOSTILE[source]):
        ChatTemplate(source).render(Chat.from_text("the cat"))


def test_a_message_that_looks_like_the_template_has_its_own_place() -> None:
    text, spans = ChatTemplate(CHATML).render(Chat.from_text("user: user"))
    assert text[: spans[0].start].endswith("user ") and text[spans[0].start : spans[0].end] == "user"


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("{% for m in messages | reverse %}{{ m.content }} {% endfor %}", ["user: mat", "system: be 'old'"]),
        ("{% for m in messages %}{{ m.content | e }} {% endfor %}", ["system: be &#39;old&#39;", "user: mat"]),
        ("{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}", []),
    ],
)
def test_a_message_has_the_role_of_its_writer_wherever_it_stands(source: str, places: list[str]) -> None:
    text, spans = ChatTemplate(source).render(Chat.from_text("system: be 'old'\nuser: mat"))
    assert [f"{role}: {text[start:end]}" for role, start, end in spans] == places


def test_a_template_that_changes_messages_marks_none() -> None:
    assert ChatTemplate("{{ messages[0].content[:1] | upper }}").render(Chat.from_text("the cat")) == ("T", ())
