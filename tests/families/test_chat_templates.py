"""Chat templates as the families write them: text, ids and places of messages equal to `apply_chat_template`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
import markupsafe
import pytest

from headlight import Chat
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.errors import TextError
from headlight.text.tokenizer import Tokenizer
from tests.families.test_tokenizers import GEMMA, token
from tests.families.texts import byte_pairs, configured, pieces, reference

NAMES = ("<|im_start|>", "<|im_end|>", "<|user|>", "<|assistant|>", "<|end|>", "[INST]", "[/INST]")
TEMPLATES = {
    "chatml": """{% for message in messages %}
{%- if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\\nBe kind.<|im_end|>\\n' }}{% endif %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    "llama 2": """{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}
{%- set told = '<<SYS>>\\n' + messages[0]['content'] + '\\n<</SYS>>\\n\\n' %}
{%- else %}{% set rest, told = messages, false %}{% endif %}
{%- for message in rest %}{% if loop.index0 == 0 and told != false %}{% set content = told + message['content'] %}
{%- else %}{% set content = message['content'] %}{% endif %}
{%- if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}""",
    "llama 3": """{{- bos_token }}
{%- if custom_tools is defined %}{% set tools = custom_tools %}{% endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{% set date_string = strftime_now("%Y") %}{% else %}{% set date_string = "2024" %}
    {%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}{% set told = messages[0]['content'] | trim %}{% set messages = messages[1:] %}
{%- else %}{% set told = "" %}{% endif %}
{{- "<|user|>system\\n\\n" }}{% if tools is not none %}{{ "Environment: ipython\\n" }}{% endif %}
{{- "Year: " + date_string + "\\n\\n" + told + "<|end|>" }}
{%- for message in messages %}{% if not (message.role == 'ipython' or 'tool_calls' in message) %}
{{- '<|user|>' + message['role'] + '\\n\\n' + message['content'] | trim + '<|end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|user|>assistant\\n\\n' }}{% endif %}""",
    "mistral": """{%- set ns = namespace(index=0, system=none) %}
{%- for message in messages %}{% if message.role == 'system' %}{% set ns.system = message.content %}{% endif %}
{%- endfor %}{{ bos_token }}
{%- for message in messages if message.role != 'system' %}
    {%- if (message['role'] == 'user') != (ns.index % 2 == 0) %}
        {{- raise_exception('roles must alternate user/assistant/user/assistant/...') }}
    {%- endif %}{% set ns.index = ns.index + 1 %}
    {%- if tools is not none and loop.last %}{{ '[AVAILABLE_TOOLS]' + tools | tojson }}{% endif %}
    {%- if message['role'] == 'user' %}[INST] {{ ns.system + '\\n\\n' if loop.last and ns.system }}
        {{- message.content }}[/INST]{% else %}{{ ' ' ~ message.content | trim ~ eos_token }}{% endif %}
{%- endfor %}""",
    "gemma": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}
{{- raise_exception('System role not supported') }}{% endif %}{% for message in messages %}
{%- if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}
{{- '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}""",
    "phi 3": """{% for message in messages %}{% if message['role'] == 'user' %}
<|user|>
{{ message['content'] }}<|end|>
{% elif message['role'] == 'assistant' %}
<|assistant|>
{% generation %}{{ message['content'] }}{% endgeneration %}<|end|>
{% else %}<|system|>
{{ message.content }}<|end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}""",
    "zephyr": """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}""",
    "deepseek": """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}
{%- set ns = namespace(is_first=false, system='') %}
{%- for message in messages %}{% if message['role'] == 'system' %}{% set ns.system = message['content'] %}{% endif %}
{%- endfor %}{{ bos_token }}{{ ns.system }}
{%- for message in messages %}
{%- if message['role'] == 'user' %}{{ '<|user|>' + message['content'] }}{% endif %}
{%- if message['role'] == 'assistant' and message['content'] is not none %}{% set content = message['content'] %}
{%- if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}
{{- '<|assistant|>' + content + eos_token }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|><think>\\n' }}{% endif %}""",
    "command r": """{{ bos_token }}{%- macro document(doc, number) -%}{{ number }}: {{ doc.text }}{%- endmacro %}
{%- if documents %}{{ '<documents>' }}{% for doc in documents %}{{ document(doc, loop.index) }}{% endfor %}{% endif %}
{%- set tools_text = 'none' if tools is none else tools | map(attribute='name') | join(', ') %}
{{- 'Tools: ' ~ tools_text ~ '; documents: ' ~ (documents is defined) ~ '\\n' }}
{%- for message in messages %}{% set role = message.role | upper %}
{{- '<|im_start|>%s ' | format(role) ~ message.content | replace('\\r', '') ~ '<|im_end|>' }}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>CHATBOT {% endif %}""",
    "marked": """{% for message in messages %}{% set kept = 'a' %}{% if message.role == 'assistant' %}
{% generation %}{% set kept = 'b' %}{{ message.content }}{% endgeneration %}{{ kept }}
{% else %}<|user|>{{ message.content }}{% endif %}{% endfor %}""",
    "as json": "{{ bos_token }}{{ messages | tojson(indent=1) }}{{ messages[0] | tojson(separators=(',', ':')) }}",
    "quoted": """{% for message in messages | reverse %}{{ message.role }}: {{ message.content | tojson }}
{% endfor %}{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}""",
    "escaped": "{% for message in messages %}{{ (message.role ~ ': ' ~ message.content) | e }}\n{% endfor %}",
    "thinking": """{% set last = messages[-1] %}{% for message in messages %}{{ '<|im_start|>' ~ message.role ~ '\\n' }}
{%- if message.content is string and message.reasoning_content is not defined %}{{ message['content'] }}{% endif %}
{{- '<|im_end|>' if loop.nextitem is defined else '' }}{% endfor %}
{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>' }}{% endif %}{{ last['role'] }}""",
    "system in front": """{% set found = messages | selectattr('role', 'equalto', 'system') | list %}
{{- bos_token ~ (found[0].content if found else 'none') }}
{%- for message in messages | rejectattr('role', 'eq', 'system') %}
{{- '[INST]' ~ message.content | trim }}{% endfor %}{{ dict(a=pad_token).a }}{{ messages | length }}""",
    "private": "{% set ns = namespace() %}{% set ns._x = 1 %}{{ ns._x }}{{ messages[0].content }}",
}  # fmt: skip
CHATS = (
    "system: answer in rhyme\nuser: what is \"red\" & 'old'?",
    "the <b>fox</b> jumps\nassistant: over a dog </think> indeed\nuser: and then?",
    "user: under score\nassistant: hello there\n  world",
    "user: mat\nsystem: brown\nuser: lazy\nassistant: quick",
)


def qwen(folder: Path) -> None:
    added = {str(420 + number): token(name, special=True) for number, name in enumerate(NAMES)}
    configured(folder, "qwen2", bos_token=NAMES[0], eos_token=NAMES[1], pad_token=NAMES[4], added_tokens_decoder=added)
    byte_pairs(folder, ["<|endoftext|>"])


def gemma(folder: Path) -> None:
    configured(folder, "gemma", tokenizer_class="GemmaTokenizer", add_bos_token=True, bos_token="<bos>")
    pieces(folder / "tokenizer.model", **GEMMA)


LAYOUTS: dict[str, Callable[[Path], None]] = {"qwen": qwen, "gemma": gemma}


def opened(folder: Path) -> Tokenizer:
    return open_tokenizer(folder, "gemma" if (folder / "tokenizer.model").is_file() else "qwen2")


def expected(theirs: Any, chat: Chat) -> tuple[str, list[int]]:
    messages = [message._asdict() for message in chat.messages]
    asked: dict[str, Any] = {"add_generation_prompt": messages[-1]["role"] != "assistant"}
    ids = theirs.apply_chat_template(messages, return_dict=False, **asked)
    return theirs.apply_chat_template(messages, tokenize=False, **asked), ids


@pytest.fixture(scope="module", params=LAYOUTS)
def layout(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    LAYOUTS[request.param](folder)
    return folder


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_makes_the_text_of_transformers(name: str, layout: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(layout, tmp_path / "model")
    (folder / "chat_template.jinja").write_text(TEMPLATES[name])
    ours, theirs = opened(folder), reference(folder)
    for chat in map(Chat.from_text, CHATS):
        try:
            text, ids = expected(theirs, chat)
        except jinja2.TemplateError:
            with pytest.raises(TextError, match=r"fails at this chat: (roles must alternate|System role|.*'_x')"):
                ours.encode_chat(chat)
            continue
        found = ours.encode_chat(chat)
        assert (found.text, [*found.ids]) == (text, ids)
        assert found.roles in ((), tuple(place_of(found.text, chat, *each) for each in found.offsets))


def place_of(text: str, chat: Chat, start: int, end: int) -> str:
    """The role of the message that these characters are of, looked for in the text; messages differ."""
    for role, content in chat.messages:
        for written in (content, json.dumps(content)[1:-1], str(markupsafe.escape(content))):
            begin = text.find(written)
            if begin >= 0 and start < begin + len(written) and begin < end:
                return role
    return ""


NAMED = {"default": TEMPLATES["zephyr"], "tool_use": TEMPLATES["chatml"]}


def beside(folder: Path, template: Any) -> None:
    values = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(values | {"chat_template": template}))


def in_files(folder: Path) -> None:
    beside(folder, TEMPLATES["chatml"])
    (folder / "chat_template.jinja").write_bytes(NAMED["default"].replace("\n", "\r\n").encode())
    named(folder, tool_use=NAMED["tool_use"])


def named(folder: Path, **templates: str) -> None:
    (folder / "additional_chat_templates").mkdir()
    for name, template in templates.items():
        (folder / "additional_chat_templates" / f"{name}.jinja").write_text(template)


def in_named_files(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text(NAMED["tool_use"])
    named(folder, **NAMED)


PLACES: dict[str, Callable[[Path], None]] = {
    "in the config": lambda folder: beside(folder, NAMED["default"]),
    "a list of named ones": lambda folder: beside(
        folder, [{"name": name, "template": template} for name, template in NAMED.items()]
    ),
    "named ones": lambda folder: beside(folder, NAMED),
    "in files": in_files,
    "in named files": in_named_files,
}


@pytest.mark.parametrize("place", PLACES)
def test_of_several_templates_the_one_of_transformers_is_used(place: str, layout: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(layout, tmp_path / "model")
    PLACES[place](folder)
    chat = Chat.from_text(CHATS[0])
    found = opened(folder).encode_chat(chat)
    assert (found.text, [*found.ids]) == expected(reference(folder), chat)


@pytest.mark.parametrize("in_file", [True, False])
def test_no_template_is_chosen_among_those_without_a_default(in_file: bool, layout: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(layout, tmp_path / "model")
    beside(folder, NAMED if in_file else {"tool_use": NAMED["tool_use"]})
    if in_file:
        named(folder, tool_use=NAMED["tool_use"])
    chat = Chat.from_text(CHATS[0])
    with pytest.raises(ValueError, match="no default"):
        expected(reference(folder), chat)
    with pytest.raises(TextError, match="no default chat template"):
        opened(folder).encode_chat(chat)


@pytest.mark.parametrize("file", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_template_may_name_tokens_of_a_checkpoints_own(file: str, layout: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(layout, tmp_path / "model")
    source = "{{ bos_token }}|{{ image_token }}|{{ boi_token }}|{{ x }}|{{ messages[0].content }}"
    (folder / "chat_template.jinja").write_text(source)
    path = folder / "tokenizer_config.json"
    values = json.loads(path.read_text())
    if file != path.name:  # it is read if there is no added_tokens_decoder
        path.write_text(json.dumps({name: value for name, value in values.items() if name != "added_tokens_decoder"}))
        path, values = folder / file, {}
    flags = dict.fromkeys(("lstrip", "rstrip", "normalized", "single_word"), False)
    values["image_token"] = {"content": "<eos>", **flags} if file != "tokenizer_config.json" else "<eos>"
    path.write_text(json.dumps(values | {"extra_special_tokens": {"boi_token": "<|im_end|>", "x": "[INST]"}}))
    chat = Chat.from_text(CHATS[0])
    assert opened(folder).encode_chat(chat).text == expected(reference(folder), chat)[0]
