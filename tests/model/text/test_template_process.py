"""Chat templates that would take all time and memory end in a sentence, and take a bounded amount of both."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headlight import Chat
from headlight.errors import TextError
from headlight.text import template_process
from headlight.text.chat import ChatTemplate
from headlight.text.template_process import MAX_MEGABYTES, TemplateProcess

ROOT = Path(__file__).parents[3]
CHAT = Chat.from_text("the cat")
LOOP = "{{% set n = namespace(x='the cat' * 9, y=[1], z=[1]) %}}{{% for i in range(64) %}}{}{{% endfor %}}{{{{ n.x }}}}"
AGAIN = "{{% macro again(x) %}}{}{{% endmacro %}}{{{{ again('the cat') }}}}"
TIME = "took longer than 1 s"
LIMIT = f"({TIME}|needs more than {MAX_MEGABYTES} MB of memory)"
HOSTILE = {
    LOOP.format("{% set n.x = n.x ~ n.x %}"): LIMIT,
    LOOP.format("{% set n.x = n.x + n.x %}"): LIMIT,
    LOOP.format("{% set n.x = n.x * 99 %}"): LIMIT,
    LOOP.format("{% set n.x = n.x | replace('t', n.x) %}"): LIMIT,
    LOOP.format("{% set n.x = n.x.replace('t', n.x) %}"): LIMIT,
    LOOP.format("{% set n.x = n.x | list | join(n.x) %}"): LIMIT,
    LOOP.format("{% set n.x = '%s%s%s%s' % (n.x, n.x, n.x, n.x) %}"): LIMIT,
    LOOP.format("{% set n.x = '{0}{0}{0}{0}'.format(n.x) %}"): LIMIT,
    LOOP.format("{% set x %}{{ n.x }}{{ n.x }}{% endset %}{% set n.x = x %}"): LIMIT,
    LOOP.format("{% set n.y = n.y + n.y %}"): LIMIT,
    LOOP.format("{% set n.y = [n.y, n.y] %}") + "{{ n.y }}": LIMIT,
    LOOP.format("{% set n.y = [n.y, n.y] %}{% set n.z = [n.z, n.z] %}") + "{{ n.y == n.z }}": TIME,
    LOOP.format("{% set n.y = {'a': n.y, 'b': n.y} %}") + "{{ n.y | tojson }}": LIMIT,
    "{{ 'the' * 10**9 }}": LIMIT,
    "{{ '%0999999999d' % 1 }}": LIMIT,
    "{{ 'the' | center(10**9) }}": LIMIT,
    "{% set x = 'the' * 10**6 %}{% for i in range(10**5) %}{{ x }}{% endfor %}": LIMIT,
    "{{ range(10**9) | list }}": "Range too big",
    "{{ 9**(9**9) }}": TIME,
    "{% for i in range(9999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": TIME,
    AGAIN.format("{{ again(x ~ x) }}{{ again(x ~ x) }}"): LIMIT,
    AGAIN.format("{{ again(x) }}"): "maximum recursion depth",
    "{{ " + "(" * 9000 + "1" + ")" * 9000 + " }}": "fails at this chat",
    "{% if messages %}" * 2000 + "{% endif %}" * 2000: "fails at this chat",
}
MEASURED = """
import json, pathlib, resource, sys
from headlight.errors import TextError
from headlight.text.chat import Chat, ChatTemplate
said = []
for source in json.load(sys.stdin):
    try:
        ChatTemplate(source).render(Chat.from_text("the cat"))
        said.append("no error")
    except TextError as error:
        said.append(str(error))
own = pathlib.Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(json.dumps([said, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, int(own)]))
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no such limit")
def test_a_hostile_template_takes_a_bounded_amount_of_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], cwd=ROOT, input=json.dumps([*HOSTILE]), capture_output=True, text=True
    )
    said, of_templates, own = json.loads(done.stdout)
    for source, sentence in zip(HOSTILE, said, strict=True):
        assert re.search(HOSTILE[source], sentence), (source[:99], sentence)
    assert of_templates < (MAX_MEGABYTES + 64) << 10
    assert own < 64 << 10


def test_the_next_template_is_rendered_by_a_new_process() -> None:
    with pytest.raises(TextError, match="took longer"):
        ChatTemplate("{{ 9**(9**9) }}").render(CHAT)
    assert ChatTemplate("{{ messages[0].content }}").render(CHAT)[0] == "the cat"


def test_a_process_that_ends_meanwhile_is_replaced_or_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    process, request = TemplateProcess(), {"source": "the", "variables": {}, "chats": [[]]}
    assert process.reply(request) == {"texts": ["the"]}
    assert process.process is not None
    os.kill(process.process.pid, signal.SIGTERM)
    process.process.wait()
    assert process.reply(request) == {"texts": ["the"]}
    endless = request | {"source": "{{ 9**(9**9) }}"}
    monkeypatch.setattr(template_process, "STARVED_SECONDS", 0.0)
    assert "took longer" in process.reply(endless)["failure"]
    monkeypatch.setattr(sys, "executable", "/nowhere")
    with pytest.raises(TextError, match="which does not start"):
        process.reply(request)
