"""Published tokenizers' regular expressions are linear; others are recognized as slow or not understood."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, pre_tokenizers

from headlight.text.pattern_cost import MAX_STEPS, PatternError, pattern_cost
from headlight.tracing.inputs import MAX_CHARACTERS
from tests.sampling import examples

CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
LETTERS = r"[^\r\n\p{L}\p{N}]?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
PUBLISHED = {
    "GPT-2": rf"{CONTRACTIONS}| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?!\S)|\s+",
    "Llama 3": rf"(?i:{CONTRACTIONS})|{LETTERS}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}",
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
              r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k": rf"{LETTERS}{UPPER}*{LOWER}+(?i:{CONTRACTIONS})?|{LETTERS}{UPPER}+{LOWER}*(?i:{CONTRACTIONS})?|"
             rf"\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}",
    "Qwen": rf"(?i:{CONTRACTIONS})|{LETTERS}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{SPACES}",
    "DeepSeek": rf"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{{|}}~][A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+|"
                rf" ?[\p{{P}}\p{{S}}]+[\r\n]*|{SPACES}",
    "Bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "CLIP": rf"<\|startoftext\|>|{CONTRACTIONS}|[\p{{L}}]+|[\p{{N}}]|[^\s\p{{L}}\p{{N}}]+",
    "white space": r"\s{2,}|[\n\r\t]",
    "words": r"\w+|[^\w\s]+",
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_expressions_take_the_longest_text(name: str) -> None:
    cost = pattern_cost(PUBLISHED[name])
    assert cost.loops == 0 and cost.longest_text >= MAX_CHARACTERS


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("text", [" ", "a", "A", "1", ".", "\n", " \n", "語", "'", "A ", "é\u0301"])
def test_and_do_so_fast(name: str, text: str) -> None:
    split = pre_tokenizers.Split(Regex(PUBLISHED[name]), "isolated")
    started = process_time()
    split.pre_tokenize_str(text * (40_000 // len(text)) + "x")
    assert process_time() - started < 1, "a quadratic expression takes 10 seconds"


@pytest.mark.parametrize(
    ("pattern", "loops"),
    [("[ab]+[cd]", 1), (r"\s++(?!\S)", 1), (r"\s+$", 1), (".*?b", 1), ("(?=.*b)a", 1), ("a*a*b", 2), (r"\s*\n|\s", 1),
     (r"\s*\n| |\s+", 1), ("(?:x?a+b)?", 1), (r"\s*\n|\s+", 0), ("(?:a|b)+", 0), ("", 0)],
)  # fmt: skip
def test_loops_that_are_run_over_in_vain_are_counted(pattern: str, loops: int) -> None:
    assert pattern_cost(pattern).loops == loops


@pytest.mark.parametrize(
    ("pattern", "ways"), [("(?:a?){3}", 8), ("(?:a?){1,3}", 24), ("a{3,5}", 3), ("a{5}", 1), ("(?:ab){3}", 1)]
)
def test_ways_are_those_of_each_count_of_repetitions(pattern: str, ways: int) -> None:
    assert pattern_cost(pattern).ways == ways


@pytest.mark.parametrize("pattern", ["(?:a|a){20}[bc]", "(?:a?){30}b", "a?" * 30 + "b", "(?:(?:a|a){5}){5}c"])
def test_many_ways_are_many_steps(pattern: str) -> None:
    assert pattern_cost(pattern).steps > MAX_STEPS // 2_000


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(?:a|b)*c", r"(a)\1", r"\g<0>", "(?(1)a)", "(?~a)", r"\X+", "a**", "a{1001}", "a{2,1}", "a{1,2}{1,2}",
     "(", ")", "[a", "(?<name>a)", "(?x)a", "a{,}", "x" * 5_000, "(a+){2,}", r"\K"],
)  # fmt: skip
def test_what_is_not_understood_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        pattern_cost(pattern)


ATOMS = st.sampled_from(["a", "b", "[ab]", ".", "(?:a|ab)", "(?:a|b)", "(?!b)", "(?:ab?)", "[^a]"])
REPEATED = st.tuples(ATOMS, st.sampled_from(["", "", "?", "*", "+", "{1,3}", "*?", "++", "{2,}"])).map("".join)
PATTERNS = st.lists(st.lists(REPEATED, min_size=1, max_size=4).map("".join), min_size=1, max_size=3).map("|".join)


@examples(150)
@given(PATTERNS, st.text("ab", min_size=1, max_size=3))
def test_what_counts_as_linear_is_fast_on_every_text(pattern: str, text: str) -> None:
    try:
        cost = pattern_cost(pattern)
    except PatternError:
        return
    length = min(cost.longest_text, 50_000) if cost.loops == 0 else min(cost.longest_text, 3_000)
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    started = process_time()
    split.pre_tokenize_str(text * (length // len(text)) + "c")
    assert process_time() - started < 2, (pattern, cost)
