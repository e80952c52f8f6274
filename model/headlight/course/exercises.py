"""Exercises for a class, with their answers, on masks, positional encodings and attention functions."""

from __future__ import annotations

from collections.abc import Mapping

from headlight.registry import Exercise

MASK_EXERCISES: Mapping[str, Exercise] = {
    "causal": Exercise(
        "Half of the picture is empty. Which half, and why must it be empty in a model that writes texts?",
        "The upper right: no token may look at a later one. When the model writes, later tokens are not there "
        "yet, so in training it must not learn to look at them.",
    ),
    "window": Exercise(
        "Only a band around the diagonal has weights. How far can one layer look, and how far two layers?",
        "One layer looks one window away. The token at the window's edge has itself looked a window further in "
        "the layer below, so two layers reach about twice as far.",
    ),
    "painted": Exercise(
        "Some cells were forbidden or opened by hand. Find them, and say how the other weights of their row have "
        "changed.",
        "The weights of a row add up to 1: the weight of a forbidden cell is shared among the others, and an "
        "opened cell takes weight from them.",
    ),
}

_SINUSOIDAL = Exercise(
    "How can a model find the previous token when a wave pattern is added to each token?",
    "The patterns of neighbouring positions differ by a small rotation, so the model can learn queries and "
    "keys that match when the rotation is one step.",
)
POSITIONAL_ENCODING_EXERCISES: Mapping[str, Exercise] = {
    "none": Exercise(
        "Swap two words of the sentence in your mind. What can this model not notice without a positional encoding?",
        "The order, unless a mask reveals it: the same words in another order are the same set of keys. Under a "
        "causal mask a token can still tell how many tokens come before it.",
    ),
    "sinusoidal": _SINUSOIDAL,
    "sinusoidal-halves": _SINUSOIDAL,
    "learned": Exercise(
        "What happens at a position beyond any that the model saw in training?",
        "There is no vector for it: the model cannot read beyond the end of the table.",
    ),
    "rope": Exercise(
        "Move the whole sentence ten positions to the right. Do the weights between its tokens change?",
        "No. Queries and keys are rotated by their positions, and their product depends only on the distance "
        "between them.",
    ),
    "rope-patches": Exercise(
        "A model reads a larger image with patches of the same size. Which angles do the corners have?",
        "The same as before: coordinates are counted from the middle, and every image reaches from -1 to 1.",
    ),
    "alibi": Exercise(
        "Which tokens does each head prefer, whatever the words are?",
        "The near ones: each step of distance costs a fixed amount of score, more in some heads than in others.",
    ),
    "relative": Exercise(
        "Two tokens are 3 positions apart, two others 100. For which pair does the model know the distance exactly?",
        "For the near pair: each small distance has its own value; larger distances share one in groups that grow "
        "with the distance.",
    ),
    "relative-patches": Exercise(
        "Two patches stand one above the other, two others side by side. Can a head tell the pairs apart?",
        "Yes: each offset in rows and columns has its own bias, so above and beside are two different numbers.",
    ),
    "disentangled": Exercise(
        "The score has parts for content and for distance. Which question does each part answer?",
        "Content to content: do the two words belong together? Content to position: does this word look for "
        "something at that distance? Position to content: does this distance call for such a word?",
    ),
}

ATTENTION_FUNCTION_EXERCISES: Mapping[str, Exercise] = {
    "softmax": Exercise(
        "Add up the weights of one row. What do you get, and can a weight be exactly 0?",
        "They add up to 1. Softmax never gives exactly 0 to a key that may be looked at; it can come very close.",
    ),
    "hardmax": Exercise(
        "How many bright cells does each row have, and what is lost compared with softmax?",
        "One, or several that share evenly: the key with the largest score takes everything. All information from "
        "the other keys is lost, and nothing can be learned about them.",
    ),
    "linear": Exercise(
        "Are the weights of a row more alike or less alike than with softmax? Why?",
        "More alike: without the exponential, a score twice as large gets about twice the weight, not many times "
        "as much.",
    ),
}
