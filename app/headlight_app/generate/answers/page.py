"""The Generate page before its first answer: examples, and the default head."""

from __future__ import annotations

from dataclasses import asdict

from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.parts import ExampleAnswer
from headlight_app.contract.reply import Reply
from headlight_app.generate.contract import GeneratePageAnswer, GeneratePageRequest
from headlight_app.inference.examples import prompt_examples
from headlight_app.inference.head_selection import default_head
from headlight_app.inference.open_models import find_model, open_model
from headlight_app.inference.resolved_question import reads_chat


def answer_generate_page(request: GeneratePageRequest) -> Reply[GeneratePageAnswer]:
    """Examples, and the default head."""
    entry = find_model(request.model)
    checkpoint = open_model(entry.name, request.device)[1].checkpoint
    answer = GeneratePageAnswer(
        examples=tuple(ExampleAnswer(**asdict(one)) for one in prompt_examples(entry, request.device)),
        default_head=default_head(entry, request.device),
        languages=tuple(checkpoint.tokenizer.languages),
        images=tuple(shipped_image_names(entry.config)) if entry.config.reads_signal else (),
        reads_chat=reads_chat(checkpoint),
    )
    return Reply(answer)
