"""Beyond text: patches, graphs, sounds and proteins as sequences, and attention over them."""

import io
import json
import wave
from base64 import b64decode
from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import find_checkpoint, load
from headlight.checkpoints import Checkpoint
from headlight.code_exercises.exercises import CODE_EXERCISES, starter
from headlight.config import ImageConfig
from headlight.course.attention import attend_by_similarity
from headlight.course.code.screens import show_exercise
from headlight.course.modalities.graph_screens import (
    ACETIC_ACID,
    Graph,
    attend_in_layers,
    count_different,
    count_hops,
    lay_out,
    parse_graph,
)
from headlight.course.modalities.patches import IMAGE_SIDE, PICTURE, cut_into_patches, join_patches, read_pixels
from headlight.course.modalities.protein_screen import AMINO_ACIDS, HEADS, attend_along, embed_protein, parse_protein
from headlight.course.modalities.sound_screen import (
    FRAME_SAMPLES,
    MOST_SOUNDS,
    SAMPLE_RATE,
    frame_of,
    parse_sounds,
    parse_tone,
    sound_of_frames,
    spectrogram,
    sum_by_sound,
    synthesize,
    wav_url,
)
from headlight.course.modalities.vision_models import CAPTION, VISION_MODEL, embed_by_hand, read_with
from headlight.errors import InputError
from headlight.views.kinds import FileView, ImageView, TokensView, Verdict
from headlight.vision.patches import class_token_tokenizer
from tests.model import toys
from tests.model.course.shown import tensor, views
from tests.sampling import examples

NAMES = ("C1", "C2", "O1", "H1", "H2", "N")
POSSIBLE_EDGES = list(combinations(range(len(NAMES)), 2))


Edges = tuple[int, set[tuple[int, int]]]
EDGES = st.tuples(st.integers(1, len(NAMES)), st.sets(st.sampled_from(POSSIBLE_EDGES)))


def graph_of(drawn: Edges) -> Graph:
    """A graph of up to six atoms with any bonds."""
    count, edges = drawn
    return Graph(NAMES[:count], tuple(sorted((one, other) for one, other in edges if other < count)))


@examples(40)
@given(EDGES, st.integers(0, 10_000), st.integers(1, 3))
def test_attention_on_a_graph_is_equivariant(drawn: Edges, seed: int, layers: int) -> None:
    graph = graph_of(drawn)
    order = torch.randperm(len(graph.nodes), generator=torch.Generator().manual_seed(seed))
    other = graph.permuted(order)
    assert other.nodes == tuple(graph.nodes[int(each)] for each in order)
    assert torch.equal(other.neighbours, graph.neighbours[order][:, order])
    before, shares = attend_in_layers(graph.features, layers, graph.neighbours)
    after, _ = attend_in_layers(other.features, layers, other.neighbours)
    torch.testing.assert_close(after, before[order])
    torch.testing.assert_close(shares @ graph.features, before)
    assert bool((shares[count_hops(graph) > layers] == 0).all()), "each layer reaches one edge further"


@examples(40)
@given(EDGES)
def test_a_graph_is_read_as_it_is_written_and_laid_out(drawn: Edges) -> None:
    graph = graph_of(drawn)
    edges = [f"{graph.nodes[one]}-{graph.nodes[other]}" for one, other in graph.edges]
    found = parse_graph(", ".join((*graph.nodes, *edges)))
    assert found == graph
    assert bool(lay_out(found).isfinite().all())


def test_only_its_neighbours_tell_the_acid_hydrogen_from_the_others() -> None:
    graph = parse_graph(ACETIC_ACID)
    full, _ = attend_in_layers(graph.features, 1)
    along, _ = attend_in_layers(graph.features, 1, graph.neighbours)
    assert (count_different(graph.features), count_different(full), count_different(along)) == (3, 3, 6)
    acid, others = along[graph.find("H4")], [along[graph.find(f"H{number}")] for number in (1, 2, 3)]
    assert all(torch.equal(each, others[0]) for each in others) and not torch.allclose(acid, others[0])


@pytest.mark.parametrize("text", ["C1-", "C1-C2-C3", "<b>-C", "é-C", ",", ", ".join(f"A{n}" for n in range(13))])
def test_what_is_no_graph_gets_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"\.$"):
        parse_graph(text)


@pytest.mark.parametrize("side", [6, 12, 24])
def test_patches_are_all_of_the_image(side: int) -> None:
    pixels = read_pixels("chess")
    patches = cut_into_patches(pixels, (side, side))
    assert patches.shape == ((IMAGE_SIDE // side) ** 2, 3 * side * side)
    assert torch.equal(patches[1].view(3, side, side), pixels[:, :side, side : 2 * side])
    assert torch.equal(join_patches(patches, (side, side)), pixels)


@pytest.mark.parametrize("picture", PICTURE.options)
def test_the_model_embeds_patches_by_one_matrix(picture: str) -> None:
    caption = load(find_checkpoint("caption"))
    read = read_with(caption, picture, ("encoder.embedding",))
    _, vectors, error = embed_by_hand(caption, read.patches)
    assert error < 1e-4
    torch.testing.assert_close(vectors.detach(), torch.tensor(read.trace["encoder.embedding"]))


def test_a_caption_is_read_from_the_patches() -> None:
    rows = CAPTION.rows(model=load(find_checkpoint("caption")), picture=PICTURE.default, layer=0, head=0)
    words, looks = (picture for row in rows[:2] for picture in row.views)
    assert isinstance(words, TokensView) and " ".join(words.tokens[:8]) == "a yellow square right of a red triangle"
    assert isinstance(looks, ImageView) and len(looks.shades) == len(words.tokens)
    assert all(len(tensor(each)) == looks.rows * looks.columns for _, each in looks.shades)


@pytest.mark.parametrize("channels", [1, 3])
def test_an_opened_vision_transformer_is_shown_like_the_shipped_model(channels: int) -> None:
    reads = ImageConfig(channels=channels, height=13, width=18, patch_height=6, patch_width=9)
    opened = Checkpoint(toys.seer(image=reads, context_length=5), class_token_tokenizer(), "")
    rows = VISION_MODEL.rows(model=opened, picture="cat", layer=0, patch=3)
    looks = views(rows, ImageView)[-1]
    assert (looks.rows, looks.columns, looks.marked) == (2, 2, (3,))
    assert len(looks.shades) == opened.model.config.heads
    verdict = next(picture for row in rows for picture in row.views if isinstance(picture, Verdict))
    assert verdict.good, "patches times W are the model's own vectors"
    for wrong, possible in (
        ({"layer": 40, "patch": 0}, "layers 0 to 1"),
        ({"layer": 0, "patch": 4}, "has 4, counted from 0"),
    ):
        with pytest.raises(InputError, match=possible):
            VISION_MODEL.rows(model=opened, picture="cat", **wrong)


@examples(25)
@given(st.lists(st.sampled_from(["C4", "E4", "G4", "330", "A5"]), min_size=2, max_size=MOST_SOUNDS))
def test_a_sound_finds_itself_again(names: list[str]) -> None:
    sounds = parse_sounds(", ".join(names))
    frames = spectrogram(synthesize(sounds))
    weights = attend_by_similarity(frames, 20.0).weights
    shares = sum_by_sound(weights[frame_of(0)], len(sounds))
    again = torch.tensor([each.frequencies == sounds[0].frequencies for each in sounds])
    torch.testing.assert_close(shares.sum(), torch.tensor(1.0))
    # E4 is 329.6 Hz; a frame of 64 ms cannot distinguish it from 330 Hz.
    if not {"E4", "330"} <= set(names) and not bool(again.all()):
        assert float(shares[again].mean()) > float(shares[~again].max())


def test_the_spectrum_has_its_peak_at_the_tone() -> None:
    frames = spectrogram(synthesize(parse_sounds("440, 1000")))
    for sound, frequency in enumerate((440, 1000)):
        peak = int(frames[frame_of(sound)].argmax()) * SAMPLE_RATE / FRAME_SAMPLES
        assert abs(peak - frequency) <= SAMPLE_RATE / FRAME_SAMPLES
    assert sound_of_frames(len(frames))[frame_of(1)] == 1


@pytest.mark.parametrize(
    ("tone", "frequency"), [("A4", 440.0), ("a5", 880.0), ("C4", 261.626), ("C#5", 554.365), ("Bb3", 233.082)]
)
def test_notes_have_the_frequencies_of_a_piano(tone: str, frequency: float) -> None:
    assert parse_tone(tone) == pytest.approx(frequency, abs=1e-3)


@pytest.mark.parametrize(
    "text", ["", "A4", "A4, H9", "A4, 5", "A4, 4000", "A4, 1e9", "A4, " * 20, "A4, C4" + "+C4" * 9]
)
def test_what_is_no_sound_gets_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"\.$"):
        parse_sounds(text)


def test_what_is_heard_is_what_was_analysed() -> None:
    samples = synthesize(parse_sounds("A4, C4+E4"))
    with wave.open(io.BytesIO(b64decode(wav_url(samples).partition(",")[2]))) as file:
        assert (file.getframerate(), file.getnchannels()) == (SAMPLE_RATE, 1)
        heard = torch.frombuffer(bytearray(file.readframes(file.getnframes())), dtype=torch.int16) / 32_767
    torch.testing.assert_close(heard, samples, atol=1e-4, rtol=0)


@examples(40)
@given(st.text("".join(AMINO_ACIDS), min_size=2, max_size=40), st.integers(1, 40))
def test_a_head_by_hand_prefers_what_it_was_written_for(chain: str, reach: int) -> None:
    values = attend_along(chain, HEADS["opposite-charge"], reach)
    charge = torch.tensor([AMINO_ACIDS[letter].charge for letter in chain])
    opposite = charge[:, None] * charge < 0
    assert torch.equal(values.scores > 0, opposite)
    for weights, fits, allowed in zip(values.weights, opposite, values.allowed, strict=True):
        if bool((fits & allowed).any()) and bool((~fits & allowed).any()):
            assert float(weights[fits & allowed].min()) > float(weights[~fits & allowed].max())


def test_a_protein_is_its_letters_and_their_properties() -> None:
    assert parse_protein(" mk e\n") == "MKE"
    x = embed_protein("KE")
    assert x[:, :20].sum(1).tolist() == [1, 1] and x[:, 20].tolist() == [1, -1]
    for text in ("M", "MX", "M1", "A" * 101):
        with pytest.raises(InputError, match=r"\.$"):
            parse_protein(text)


@pytest.mark.parametrize("name", CODE_EXERCISES)
def test_the_exercises_are_there_to_download(name: str) -> None:
    rows = show_exercise(name, 3, 1)
    notebook, python = views(rows, FileView)
    cells = ["".join(cell["source"]) for cell in json.loads(notebook.text)["cells"]]
    assert starter(CODE_EXERCISES[name]) in cells and f"check({name})" in cells
    assert starter(CODE_EXERCISES[name]) in python.text and compile(python.text, python.file_name, "exec")
