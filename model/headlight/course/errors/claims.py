"""What notes often say, what is right, and the screen of the course that shows it."""

from __future__ import annotations

from random import Random

from headlight.course.controls import ChoiceControl, SeedControl
from headlight.course.errors.reading import reading
from headlight.course.pictures import Claim, ClaimsPicture, Question, ScreenLink, row
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen


def _claim(said: str, right: str, *paths: str) -> Claim:
    """A claim; each path is `chapter/screen`."""
    names = (path.split("/") for path in paths)
    return Claim(said, right, tuple(ScreenLink(chapter, screen) for chapter, screen in names))


CLAIMS: dict[str, tuple[Claim, ...]] = {
    "Positions": (
        _claim(
            "The waves of the sinusoid grow by 10^(4j/d).",
            "By 10000^(2j/d). The other is a base of 100: its slowest wave is 98 times shorter at d = 512.",
            "positions/waves",
        ),
        _claim(
            "The j in the exponent of the sinusoid is the number of the channel.",
            "It numbers pairs: the channels 2j and 2j + 1 share a wave. Positions count from 0.",
            "errors/pairs",
        ),
        _claim(
            "Early positions have the high frequencies.",
            "Early channels have them, at every position.",
            "errors/pairs",
        ),
        _claim(
            "Attention sees the future, and so it does not know the order.",
            "Two things: a mask hides the future, and positions tell the order. A causal mask alone tells it, too.",
            "positions/order",
        ),
        _claim(
            "Attention is permutation invariant.",
            "It is equivariant: each output moves with its token. Only a mean of all outputs stays the same.",
            "positions/order",
        ),
    ),
    "Scores": (
        _claim(
            "Scores are not scaled, or divided by d_k, or by the root of the model's width.",
            "They are divided by √d_k, and d_k is the width of one head's queries.",
            "errors/divisor",
            "attention/scale",
        ),
        _claim(
            "q = Q x, and the weights are softmax(X Q Kᵀ Xᵀ).",
            "One takes tokens as columns, the other as rows: between them lies a transpose. Values come last.",
            "errors/rows-or-columns",
            "attention/projections",
        ),
        _claim(
            "torch.rand makes a good example.",
            "Its numbers are never negative, so all keys fit alike and nothing is chosen. torch.randn chooses.",
            "attention/random",
        ),
    ),
    "Masks": (
        _claim(
            "The forbidden weights are set to 0 after the softmax.",
            "Then rows do not add up to 1. The scores are set to −∞ before it.",
            "masks/before-after",
        ),
        _claim(
            "Forbidden products of query and key become 0.",
            "A score of 0 still gets weight. Writing into the scores themselves also loses them.",
            "errors/zero-score",
        ),
        _claim(
            "A token sees only those before it.",
            "And itself: j ≤ i.",
            "errors/itself",
        ),
        _claim(
            "mask.unsqueeze(1) makes a padding mask fit.",
            "One axis too few: an error, or with as many texts as heads a mask that silently hides by head.",
            "masks/broadcast",
        ),
        _claim(
            "Minus infinity is always safe.",
            "A row in which all is forbidden becomes NaN.",
            "masks/drawn",
        ),
        _claim(
            "The padding mask has the shape (batch, d_model).",
            "It has a cell for each token: (batch, tokens).",
            "errors/mask-shape",
        ),
    ),
    "Heads": (
        _claim(
            "Several heads cost no more than one.",
            "Where each is d / h wide. Heads of full width cost about h times as much.",
            "heads/cost",
        ),
        _claim(
            "Queries, keys and values are all d_k wide, and their matrices n × n.",
            "Values have a width of their own, d_v, and each matrix as many columns as its heads are wide.",
            "heads/widths",
        ),
        _claim(
            "Encoder and decoder have equally many heads.",
            "They meet in vectors, which have no heads. Each may have its own number.",
            "heads/widths",
        ),
        _claim(
            "An output is a weighted sum of the tokens' embeddings.",
            "Of their values: each embedding, or what a layer made of it, times W_V.",
            "attention/steps",
            "attention/moving",
        ),
        _claim(
            "The matrices W_Q and W_K are d × d_k, as in the code: Linear(embed_dim, embed_dim).",
            "The formula has one head. The code holds the matrices of all heads side by side: h · d_k columns.",
            "heads/cut",
        ),
    ),
    "Blocks and models": (
        _claim(
            "Attention's output takes the place of x.",
            "It is added to x. Give them different letters: x, and z for what is added.",
            "block/residual",
            "block/switch-off",
        ),
        _claim(
            "The norm stands after each sublayer.",
            "In 2017. Most later models have it before (pre-norm).",
            "block/norm-placement",
        ),
        Claim(
            "A layer norm is (h − μ) / σ.",
            "With an ε, or equal channels give 0 / 0; and with a learned gain and shift.",
            (ScreenLink("block", "layer-norm", {"x": "1,2,3,6;2,2,2,2", "epsilon": "0"}),),
        ),
        _claim(
            "A decoder is an encoder with cross-attention.",
            "A mask makes a decoder. Cross-attention is there only where there is an encoder.",
            "errors/decoders",
        ),
        _claim(
            "In a recurrent network words are far apart because of its layers.",
            "Because of its steps: one for each word between.",
            "block/path-length",
        ),
        _claim(
            "For sequences, recurrent encoder-decoders (seq2seq) are as widely used as Transformers.",
            "They came before. A step waits for the one before it, so they train slowly, and far words fade.",
            "block/sequential-steps",
            "block/path-length",
        ),
        _claim(
            "A vector has as many numbers as there are activation functions.",
            "As there are neurons. All of them may have the same activation function.",
            "block/feed-forward",
        ),
    ),
    "Tokens, training and code": (
        _claim(
            "x is a token, and x is its number.",
            "A token, its number in the vocabulary, and the row of the table with that number are three things.",
            "tokens/lookup",
        ),
        _claim(
            "In masked training each token is processed independently.",
            "By the classifier. All layers below it mix the tokens.",
            "errors/independent-tokens",
        ),
        _claim(
            "The code runs as it is printed.",
            "Without its imports it is defined, and fails when it is called.",
            "errors/missing-names",
        ),
    ),
}


def overview(subject: str, seed: int) -> Answer:
    """The claims about one subject, after a question on one of them, and where to read on."""
    claims = CLAIMS[subject]
    return (row(ClaimsPicture(claims=claims), question=_ask_of_one(claims, Random(seed))), *reading())


def _ask_of_one(claims: tuple[Claim, ...], draw: Random) -> Question:
    """Which is right: what is often said, or what stands beside it."""
    claim = draw.choice(claims)
    options = tuple(draw.sample((claim.said, claim.right), 2))
    return choose("Which of the two is right?", options, options.index(claim.right), {})


OVERVIEW = Screen(
    title="What notes say, what is right, and where to read on",
    lesson="All of these claims stand in notes that many people learn from, and none holds as it is written. "
    "Each has a screen where you can check it with a number that is computed as you look. Below are the papers that "
    "the chapters rest on, and explanations by others; these links need a network.",
    controls={
        "subject": ChoiceControl(title="About", default="Positions", options={name: name for name in CLAIMS}),
        "seed": SeedControl(title="Ask of another claim"),
    },
    compute=overview,
    code=(overview,),
)
