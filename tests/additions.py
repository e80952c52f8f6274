"""One addition of each kind, made as HOW_TO_ADD.md says: the files that it touches, and the text put into them."""

from dataclasses import dataclass
from pathlib import Path

MODEL = "model/headlight/HOW_TO_ADD.md"
FAMILY = "model/headlight/checkpoints/HOW_TO_ADD.md"
SCREEN = "model/headlight/course/README.md"
PAGE = "app/headlight_app/HOW_TO_ADD.md"


@dataclass(frozen=True)
class Insertion:
    """Text that goes into the file at `path`, in front of the line that starts with `before`; a new file has none.

    `named` is how the page names the file: by its path from the page's folder or from the root, if this is empty.
    """

    path: str
    before: str
    text: str
    named: str = ""

    def insert(self, root: Path) -> None:
        """Insert the text below `root`. Raises ValueError unless exactly one line starts with `before`."""
        file = root / self.path
        if not self.before:
            file.parent.mkdir(exist_ok=True)
            file.write_text(self.text, encoding="utf-8")
            return
        head, tail = ("\n" + file.read_text(encoding="utf-8")).split(f"\n{self.before}")
        file.write_text(f"{head[1:]}\n{self.text}{self.before}{tail}", encoding="utf-8")


@dataclass(frozen=True)
class Addition:
    """What one page says in one place, from `start` to `end`, about adding something; and an example of it."""

    page: str
    start: str
    insertions: tuple[Insertion, ...]
    end: str = "\n"


ADDITIONS = {
    "mask": Addition(
        MODEL,
        "| a mask |",
        (
            Insertion(
                "model/headlight/nn/masks.py",
                "def padding(",
                '''\
def every(positions: QueryKeyPositions, step: int) -> Bool[Tensor, "#batch 1 query key"]:
    """Only keys at a multiple of `step` from the query."""
    return (positions.distance % step == 0)[None, None]


''',
            ),
            Insertion(
                "model/headlight/nn/masks.py",
                '        "padding": Mask(',
                """\
        "every": Mask(
            title="Every n-th",
            description="Each token attends to every n-th before it.",
            formula=r"m_{ij} = [\\,n \\mid i - j\\,]",
            allowed=every,
            argument=MaskArgument("Step", "3", _parse_width, limits=(2, 9)),
            with_causal=True,
        ),
""",
            ),
        ),
    ),
    "positional encoding": Addition(
        MODEL,
        "| a positional encoding |",
        (
            Insertion(
                "model/headlight/nn/positional_encodings.py",
                "class RelativePositions(",
                '''\
class Reversed(PositionalEncoding):
    """Counts positions from the end."""

    title: ClassVar = "Reversed"
    description: ClassVar = "Adds how far a token is from the last position."
    formula: ClassVar = r"T - i"

    def bias(self, queries: Shaped[Tensor, " query"], keys: Shaped[Tensor, " key"]) -> Float[Tensor, "head query key"]:
        """The number of positions behind each key."""
        return (self.context_length - keys).float().expand(self.heads, queries.shape[0], keys.shape[0])


''',
            ),
            Insertion(
                "model/headlight/nn/positional_encodings.py",
                '        "relative": RelativeBias,',
                '        "reversed": Reversed,\n',
            ),
        ),
    ),
    "edit operation": Addition(
        MODEL,
        "| an edit operation |",
        (
            Insertion(
                "model/headlight/tracing/interventions.py",
                '        "mean": EditOperation(',
                """\
        "clip": EditOperation(
            lambda selection, number: selection.values.clamp(max=number), "at most", "at most {number}"
        ),
""",
            ),
        ),
    ),
    "hook point": Addition(
        MODEL,
        "| a value to see (hook point) |",
        (
            Insertion(
                "model/headlight/nn/stack.py",
                "        begun: Tensor = self.dropout(",
                '        x = hook("embedding_sum", x)\n',
                named="where it is computed",
            ),
            Insertion(
                "model/headlight/nn/hooks.py",
                '        "residual": HookPoint(',
                """\
        "embedding_sum": HookPoint(
            _RESIDUAL_AXES,
            "Sum of the embeddings",
            edited_in=("stack",),
            edit_sentences=(EditSentence("The embeddings of token {pos} are {number}", "set", ("pos",)),),
        ),
""",
            ),
        ),
    ),
    "head metric": Addition(
        MODEL,
        "| a head metric |",
        (
            Insertion(
                "model/headlight/analysis/head_metrics.py",
                "def _first_token(",
                """\
def _token_before_the_previous(text: Encoded) -> QueryKeyMask:
    return np.eye(len(text.ids), k=-2, dtype=bool)


""",
            ),
            Insertion(
                "model/headlight/analysis/head_metrics.py",
                '        "next": _pattern(',
                """\
        "two-tokens-before": _pattern(
            "Two tokens before",
            "the token before the previous one",
            _token_before_the_previous,
            "A stripe two cells below the diagonal: each token looks at the one before the previous one.",
        ),
""",
            ),
        ),
    ),
    "task": Addition(
        MODEL,
        "| a task |",
        (
            Insertion(
                "model/headlight/nn/output_heads.py",
                '        "masked-language-model": MaskedLanguageModelHead,',
                '        "rhyme": LanguageModelHead,\n',
            ),
            Insertion(
                "model/headlight/tasks.py",
                '        "masked-language-model": Task(',
                """\
        "rhyme": Task(
            "Finds rhymes",
            "tokens",
            continues_text=True,
            prediction_title="Next rhyme",
            preposition="after ",
            examples=(Example("moon and June"),),
        ),
""",
            ),
        ),
    ),
    "checkpoint family": Addition(
        FAMILY,
        "# Adding a checkpoint family",
        (
            Insertion(
                "model/headlight/checkpoints/families/llama_like.py",
                "def olmo2(",
                '''\
def seed_oss(fields: ConfigReader) -> ConfigValues:
    """Biases on queries, keys and values, and their own field for those of the output."""
    biases = ATTENTION_PROJECTIONS[:3] * fields.boolean("attention_bias", True)
    output = ATTENTION_PROJECTIONS[3:] * fields.boolean("attention_out_bias", False)
    feed_forward = FEEDFORWARD_PROJECTIONS * fields.boolean("mlp_bias", False)
    return shared_config(fields) | {"biases": (*biases, *output, *feed_forward)}


''',
                named="the file of `families/` that holds its relatives",
            ),
            Insertion(
                "model/headlight/checkpoints/families/llama_like.py",
                "COHERE = llama_family(",
                """\
SEED_OSS = llama_family(
    seed_oss,
    ignored_fields=("pretraining_tp", "residual_dropout"),
    defaults={
        "vocab_size": 155_136, "max_position_embeddings": 524_288, "hidden_size": 4096, "num_hidden_layers": 64,
        "num_attention_heads": 80, "num_key_value_heads": 8, "intermediate_size": 27_648, "head_dim": 128,
    },
)  # fmt: skip
""",
                named="the file of `families/` that holds its relatives",
            ),
            Insertion(
                "model/headlight/checkpoints/families/llama_like.py",
                "    FUSED_FEED_FORWARD,",
                "    FEEDFORWARD_PROJECTIONS,\n",
                named="the file of `families/` that holds its relatives",
            ),
            Insertion(
                "model/headlight/checkpoints/families/__init__.py",
                '        "nanochat": llama_like.NANOCHAT,',
                '        "seed_oss": llama_like.SEED_OSS,\n',
            ),
            Insertion(
                "tests/families/llama_like.py",
                '    "glm": [',
                """\
    "seed_oss": [
        Case("SeedOssForCausalLM", LLAMA | WIDE),
        Case("SeedOssModel", LLAMA | SIX | {"attention_bias": False, "attention_out_bias": True, "mlp_bias": True}),
    ],
""",
                named="`tests/families`",
            ),
        ),
        end="\n\nEvery test",
    ),
    "screen": Addition(
        SCREEN,
        "To add a screen:",
        (
            Insertion(
                "model/headlight/course/heads/screens.py",
                "JOINING = Screen(",
                '''\


def count_weights(heads: int, length: int) -> ScreenRows:
    """The number of weights that the heads of one layer compute for a text of `length` tokens."""
    of_head = length**2
    question = ask_number("How many weights do all heads compute?", heads * of_head, because="One for each cell.")
    return (row(bars("Weights", {"one head": of_head, "all heads": heads * of_head}), question=question),)


COUNTED = Screen(
    title="How many weights?",
    lesson="A head has one weight for each query and key.",
    controls={"heads": CountControl("Heads h", "4", 1.0, 8.0), "length": LENGTH},
    compute=count_weights,
    formulas=(r"h\\,n^2",),
    code=(count_weights,),
)
''',
                named="the chapter's package",
            ),
            Insertion(
                "model/headlight/course/chapters.py",
                '                "join": heads.JOINING,',
                '                "counted": heads.COUNTED,\n',
            ),
        ),
        end="\n- ",
    ),
    "quantity": Addition(
        PAGE,
        "| a quantity to show of a head |",
        (
            Insertion(
                "app/headlight_app/explore/answers/quantities.py",
                "def _value_norm(",
                """\
def _doubled(request: QuantityRequest, layer: int) -> HeadArrays:
    weights, allowed = _weights(request, layer)
    return 2 * weights, allowed


""",
            ),
            Insertion(
                "app/headlight_app/explore/answers/quantities.py",
                '        "value_norm": Quantity(',
                """\
        "doubled": Quantity("Doubled", "twice the weight", _doubled, Expression(f"2 * {_WEIGHTS}")),
""",
            ),
        ),
    ),
    "plot": Addition(
        PAGE,
        "| a plot of heads |",
        (
            Insertion(
                "model/headlight/rendering/plots.py",
                '        "table": Plot(',
                '        "bars": Plot("Bars", "A bar for each key", reads="text"),\n',
                named="`model/headlight/rendering/plots.py`",
            ),
            Insertion(
                "app/headlight_app/ui/frontend/plots/bars.ts",
                "",
                """\
// A bar for each key.

import type { Plot } from "../types.ts";

export const KEY_BARS: Plot = {
  draw: (_page, matrix, width, canvas) => {
    canvas.width = width;
    canvas.height = matrix.height;
  },
  tokenAt: () => null,
};
""",
                named="the module that draws it",
            ),
            Insertion(
                "app/headlight_app/ui/frontend/heads/head_panel.ts",
                "  table: NUMBER_TABLE,",
                "  bars: KEY_BARS,\n",
            ),
            Insertion(
                "app/headlight_app/ui/frontend/heads/head_panel.ts",
                "import { IMAGE_OVERLAY",
                'import { KEY_BARS } from "../plots/bars.ts";\n',
            ),
        ),
    ),
    "analysis": Addition(
        PAGE,
        "| an analysis of Layers |",
        (
            Insertion(
                "app/headlight_app/explore/answers/analyses/words.py",
                "",
                '''\
"""How long the tokens are."""

from headlight.views.forms import bars
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.inference.resolved_question import ResolvedQuestion


def words(resolved: ResolvedQuestion, state: State) -> Views:
    """A bar for each token."""
    tokens = resolved.trace.text.token_texts
    return (bars("Length of each token", tokens, list(map(len, tokens)), name="letters"),)


ANALYSIS = Analysis("Words", "How long each token is.", reads=("query",), compute=words)
''',
                named="a file in `explore/answers/analyses`",
            ),
            Insertion(
                "app/headlight_app/explore/answers/analyses/table.py",
                '    "logit_attribution",',
                '    "words",\n',
                named="its name in `table.py`",
            ),
        ),
    ),
    "task view": Addition(
        PAGE,
        "| a task of the page |",
        (
            Insertion(
                "app/headlight_app/tasks/views.py",
                '        "similar": TaskView(',
                """\
        "letters": TaskView(
            "Letters",
            "How many letters each token has.",
            "reads words",
            "a model that fills gaps",
            lambda config: config.reads_text and task_of(config).fills_masks,
        ),
""",
                named="a row in `TASK_VIEWS`",
            ),
            Insertion(
                "app/headlight_app/tasks/answers/letters.py",
                "",
                '''\
"""Letters: how many each token has."""

from headlight.views.kinds import TokensView
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.inference.resolved_question import ResolvedQuestion


def letters(resolved: ResolvedQuestion, state: State) -> Views:
    """The tokens, and the number of letters below each."""
    tokens = resolved.trace.text.token_texts
    return (TokensView("Letters", tuple(tokens), below=tuple(str(len(token.strip())) for token in tokens)),)


ANALYSIS = Analysis("Letters", compute=letters)
''',
                named="a file of its name in `tasks/answers`",
            ),
            Insertion(
                "app/headlight_app/tasks/answers/table.py",
                '    "similar",',
                '    "letters",\n',
                named="its name in `table.py`",
            ),
        ),
    ),
    "page of views": Addition(
        PAGE,
        "| a page of views |",
        (
            Insertion(
                "app/headlight_app/sizes/__init__.py",
                "",
                '"""The Sizes page."""\n',
                named="such a folder",
            ),
            Insertion(
                "app/headlight_app/sizes/page.py",
                "",
                '''\
"""The Sizes page: how large a model is."""

import streamlit as st

from headlight_app.contract.state import State
from headlight_app.engine.models import AvailableModel
from headlight_app.export.views_page import show_views

TITLE, ICON, PATH = "Sizes", ":material/straighten:", "sizes"


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    st.title(TITLE)
    show_views(PATH, state, state.question("").without_input, ("layer",))
''',
                named="such a folder",
            ),
            Insertion(
                "app/headlight_app/sizes/answers/__init__.py",
                "",
                '"""The worker\'s answers for the Sizes page."""\n',
                named="`answers/`",
            ),
            Insertion(
                "app/headlight_app/sizes/answers/page.py",
                "",
                '''\
"""The views of the Sizes page."""

from headlight.views.forms import bars
from headlight_app.contract.state import State
from headlight_app.export.answers.views import ShownPage
from headlight_app.inference.resolved_question import ResolvedQuestion


def show_sizes(resolved: ResolvedQuestion, state: State) -> ShownPage:
    """A bar for each number."""
    shown = bars("Numbers of parts", {"layers": resolved.config.layers, "heads": resolved.config.heads})
    return ShownPage((shown,), title="Sizes", about="", program={"length": 1})
''',
                named="`answers/`",
            ),
            Insertion(
                "app/headlight_app/frame/main.py",
                "from headlight_app.state import session",
                "from headlight_app.sizes import page as sizes\n",
            ),
            Insertion("app/headlight_app/frame/main.py", "    checkpoints,", "    sizes,\n"),
            Insertion(
                "app/headlight_app/worker/table.py",
                "from headlight_app.tasks.answers import page as tasks_page",
                "from headlight_app.sizes.answers import page as sizes_page\n",
            ),
            Insertion(
                "app/headlight_app/worker/table.py",
                '            "positions": positions_page',
                '            "sizes": sizes_page.show_sizes,\n',
            ),
        ),
    ),
    "panel": Addition(
        PAGE,
        "| a panel of Explore |",
        (
            Insertion(
                "app/headlight_app/explore/tabs.py",
                '        "tokens": Tab(',
                """\
        "notes": Tab("Notes", "explore/frontend/notes/notes.html", "head_view"),
""",
                named="a row in `TABS`",
            ),
            Insertion(
                "app/headlight_app/explore/frontend/notes/notes.html",
                "",
                '<p data-testid="notes">Notes</p>\n',
                named="HTML",
            ),
            Insertion(
                "app/headlight_app/explore/frontend/notes/notes.ts",
                "",
                "// Notes.\n\nexport default { draw: () => {} };\n",
                named="a script",
            ),
            Insertion(
                "app/headlight_app/explore/frontend/panels.ts",
                "export { default as layers }",
                'export { default as notes } from "./notes/notes.ts";\n',
            ),
        ),
    ),
}
