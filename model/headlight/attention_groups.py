"""The attention groups of a model: decoder self-attention, cross-attention, encoder self-attention."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.config import Config

STACK_TITLES = {"encoder": "Encoder", "decoder": "Decoder"}


@dataclass(frozen=True)
class AttentionGroup:
    """One kind of attention in one stack, named as in `decoder.self`, with its layers and heads.

    `queries` and `keys` name the text that they come from: "text" or "source". `aligned` lists the heads (layer, head)
    that follow the source from token to token, according to the checkpoint.
    """

    name: str
    stack: str
    kind: str
    title: str
    layers: int
    heads: int
    queries: str
    keys: str
    aligned: tuple[tuple[int, int], ...] = ()

    def path(self, layer: int) -> str:
        """The path of a layer's attention, such as `decoder.3.self`."""
        return f"{self.stack}.{layer}.{self.kind}"


def attention_groups(config: Config) -> tuple[AttentionGroup, ...]:
    """All attention groups of a model, starting with the self-attention of the stack with the output head.

    For a model that writes about an image or a sound, cross-attention comes first: it shows what each word looks at.
    """

    def group(stack: str, kind: str, title: str, queries: str, keys: str) -> AttentionGroup:
        return AttentionGroup(
            f"{stack}.{kind}",
            stack,
            kind,
            title,
            config.num_layers(stack),
            config.for_stack(stack).heads,
            queries,
            keys,
            config.decoder.alignment_heads if kind == "cross" else (),
        )

    if not config.has_cross_attention:
        stack = config.stacks[-1]
        return (group(stack, "self", STACK_TITLES[stack], "text", "text"),) if config.layers else ()
    decoder = group("decoder", "self", "Decoder", "text", "text")
    cross = group("decoder", "cross", "Cross", "text", "source")
    encoder = group("encoder", "self", "Encoder", "source", "source")
    return (cross, decoder, encoder) if config.reads_signal else (decoder, cross, encoder)
