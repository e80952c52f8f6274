"""What notes often say, what is right, the screen of the course that shows it, and where to read on."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from headlight.course.controls import ChoiceControl, SeedControl
from headlight.course.moved import IN_MASKS
from headlight.course.pictures import Claim, ClaimsPicture, Row, ScreenLink, TablePicture, row
from headlight.course.question_kinds import Question
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen


@dataclass(frozen=True)
class Source:
    """What one may read: what it is about, by whom, its title, and its address."""

    subject: str
    authors: str
    title: str
    address: str

    @property
    def place(self) -> str:
        """Where it is found without a link: its number, or the site."""
        site, _, path = self.address.removeprefix("https://").partition("/")
        return f"arXiv {path.removeprefix('abs/')}" if site == "arxiv.org" else site.removeprefix("www.")


def _arxiv(subject: str, authors: str, title: str, number: str) -> Source:
    return Source(subject, authors, title, f"https://arxiv.org/abs/{number}")


PAPERS = (
    _arxiv("Transformer", "Vaswani et al. 2017", "Attention Is All You Need", "1706.03762"),
    _arxiv(
        "attention before it",
        "Bahdanau et al. 2015",
        "Neural Machine Translation by Jointly Learning to Align and Translate",
        "1409.0473",
    ),
    _arxiv("BPE", "Sennrich et al. 2016", "Neural Machine Translation of Rare Words with Subword Units", "1508.07909"),
    _arxiv("CBOW", "Mikolov et al. 2013", "Efficient Estimation of Word Representations in Vector Space", "1301.3781"),
    Source(
        "GloVe",
        "Pennington et al. 2014",
        "GloVe: Global Vectors for Word Representation",
        "https://aclanthology.org/D14-1162/",
    ),
    _arxiv("FastText", "Bojanowski et al. 2017", "Enriching Word Vectors with Subword Information", "1607.04606"),
    Source(
        "GPT",
        "Radford et al. 2018",
        "Improving Language Understanding by Generative Pre-Training",
        "https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf",
    ),
    Source(
        "GPT-2",
        "Radford et al. 2019",
        "Language Models are Unsupervised Multitask Learners",
        "https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf",
    ),
    _arxiv("BERT", "Devlin et al. 2019", "BERT: Pre-training of Deep Bidirectional Transformers", "1810.04805"),
    _arxiv("T5", "Raffel et al. 2020", "Exploring the Limits of Transfer Learning", "1910.10683"),
    _arxiv("ViT", "Dosovitskiy et al. 2021", "An Image is Worth 16x16 Words", "2010.11929"),
    _arxiv("RoPE", "Su et al. 2021", "RoFormer: Enhanced Transformer with Rotary Position Embedding", "2104.09864"),
    _arxiv("ALiBi", "Press et al. 2022", "Train Short, Test Long", "2108.12409"),
    _arxiv("linear attention", "Katharopoulos et al. 2020", "Transformers are RNNs", "2006.16236"),
    _arxiv("layer norm", "Ba et al. 2016", "Layer Normalization", "1607.06450"),
    _arxiv("pre-norm", "Xiong et al. 2020", "On Layer Normalization in the Transformer Architecture", "2002.04745"),
    _arxiv("induction heads", "Olsson et al. 2022", "In-context Learning and Induction Heads", "2209.11895"),
)
EXPLANATIONS = (
    Source(
        "in pictures",
        "Alammar 2018",
        "The Illustrated Transformer",
        "https://jalammar.github.io/illustrated-transformer/",
    ),
    Source("in code", "Rush 2018", "The Annotated Transformer", "https://nlp.seas.harvard.edu/annotated-transformer/"),
    Source(
        "as a film",
        "Sanderson 2024",
        "Attention in transformers, step-by-step (3Blue1Brown)",
        "https://www.3blue1brown.com/lessons/attention",
    ),
    Source(
        "as a film", "Karpathy 2023", "Let's build GPT: from scratch, in code", "https://karpathy.ai/zero-to-hero.html"
    ),
    Source(
        "as a short course",
        "Starmer 2025",
        "Attention in Transformers: Concepts and Code in PyTorch",
        "https://www.deeplearning.ai/short-courses/attention-in-transformers-concepts-and-code-in-pytorch/",
    ),
    Source(
        "as an essay",
        "Wolfe 2024",
        "Decoder-Only Transformers: The Workhorse of Generative LLMs",
        "https://cameronrwolfe.substack.com/p/decoder-only-transformers-the-workhorse",
    ),
    Source(
        "sinusoids as rotations",
        "Denk 2019",
        "Linear Relationships in the Transformer's Positional Encoding",
        "https://blog.timodenk.com/linear-relationships-in-the-transformers-positional-encoding/",
    ),
    Source(
        "sinusoids, drawn",
        "Singh",
        "Positional Encoding in Transformers: A Visual and Intuitive Guide",
        "https://medium.com/@gunjassingh/positional-encoding-in-transformers-a-visual-and-intuitive-guide-0761e655cea7",
    ),
    Source(
        "as a course",
        "Manning and others",
        "CS224N: Natural Language Processing with Deep Learning",
        "https://web.stanford.edu/class/cs224n/",
    ),
    Source(
        "as a book", "Jurafsky and Martin", "Speech and Language Processing", "https://web.stanford.edu/~jurafsky/slp3/"
    ),
)


def reading() -> Answer:
    """Papers and explanations, with what one needs to find them without a network, too."""
    return (
        _listed("Papers", ("on", "paper", "where"), PAPERS),
        _listed("Explanations", ("how", "by whom", "where"), EXPLANATIONS),
    )


def _listed(title: str, columns: tuple[str, ...], sources: tuple[Source, ...]) -> Row:
    rows = tuple((each.subject, f"{each.authors}: {each.title}", each.place) for each in sources)
    return row(TablePicture(title=title, columns=columns, rows=rows, addresses=tuple(each.address for each in sources)))


def _claim(said: str, right: str, *paths: str, **inputs: str) -> Claim:
    """A claim; each path is `chapter/screen`, and `inputs` are those of the screens."""
    names = (path.split("/") for path in paths)
    return Claim(said, right, tuple(ScreenLink(chapter, screen, inputs) for chapter, screen in names))


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
            "attention/scale",
        ),
        _claim(
            "q = Q x, and the weights are softmax(X Q Kᵀ Xᵀ).",
            "One takes tokens as columns, the other as rows: between them lies a transpose. Values come last.",
            "attention/projections",
        ),
        _claim(
            "torch.rand makes a good example.",
            "Its numbers are never negative, so all keys fit alike and nothing is chosen. torch.randn chooses.",
            "attention/scale",
            draw="uniform",
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
            "masks/before-after",
            way="scores",
        ),
        _claim(
            "A token sees only those before it.",
            "And itself: j ≤ i.",
            "masks/lifted",
            mask="itself",
        ),
        _claim(
            "mask.unsqueeze(1) makes a padding mask fit.",
            "One axis too few: an error, or with as many texts as heads a mask that silently hides by head.",
            "masks/broadcast",
        ),
        _claim(
            "Minus infinity is always safe.",
            "A row in which all is forbidden becomes NaN.",
            "masks/added",
            mask="drawn",
        ),
        _claim(
            "The padding mask has the shape (batch, d_model).",
            "It has a cell for each token: (batch, tokens).",
            "masks/broadcast",
            way="channels",
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
        _claim(
            "A layer norm is (h − μ) / σ.",
            "With an ε, or equal channels give 0 / 0; and with a learned gain and shift.",
            "block/layer-norm",
            x="1,2,3,6;2,2,2,2",
            epsilon="0",
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
            "tokens/context",
            **IN_MASKS,
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
