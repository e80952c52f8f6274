"""Odd texts: 2,000 by a fixed seed, of pieces that tokenizers are known to disagree about."""

import random

SEED = 48
LONGEST = 12  # pieces of a text
PIECES = (
    "the", " the", "The", " cat", "Once upon a time", " running", "don't", "I'LL", "we\u2019ve", "x's",
    "naïve", "İstanbul", "ıI", "Straße", "ŒUVRE", "ﬁ", "ﬂ", "ﬃ", "½", "²", "™", "Ⅳ", "①", "ｆｕｌｌ", "㎏", "ﷺ",
    "ﾊﾟ", "か\u3099", "가", "\u1100\u1161\u11a8",
    "e\u0301", "a\u0300\u0301\u0302", "q\u0307\u0323", "\u0323", "\u1e69", "Z\u0351\u036b\u0343", "\u00c5",
    "\u212b", "A\u030a", "\u09c7\u09be", "हिन्दी", "ไทย", "שָׁלוֹם", "مرحبا", "\u202eRTL\u202c", "漢字",
    "日本語の文章です。", "中", "𠀀", "한국어", "Ελληνικάς", "Русский", "ß", "ǅ", "ſ",
    "😀", "👩\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈", "🇩🇪", "🇩", "👍🏽", "🤦🏼\u200d♂️", "\U0001f9ff", "\U0010ffff",
    "\U0001fae8", "\ue000", "\ufdd0",
    "\0", "\x01", "\x07", "\x1b[0m", "\x7f", "\x85", "\x1c", "\x1f", "\u200b", "\u200d", "\ufeff", "\u00ad",
    "\u2060", "\ufffd", "\u180e", "\U000e0001",
    " ", "  ", "   ", " " * 9, "\t", "\n", "\r", "\r\n", "\n\n", "\u00a0", "\u3000", "\u2003", "\u2028",
    "\u2029", "\u1680", "\v", "\f",
    "\ud800", "\udc80", "\ud83d", "\ude00",
    "0", "1", "123", "1,234.56", "3.14e-10", "٣", "৪", "१२", "100%", "$5", "#tag", "@me",
    "http://x.y/z?q=1&r=2#f", "a.b@c.de", "C:\\path\\file", "_", "__init__", "a_b", "-", "—", "–", "…", "...",
    "“", "”", "‘", "’", "''", "``", "¿", "!?", "(", ")]}", "<b>", "</script>", "&amp;", "__proto__",
    "constructor", "toString",
    "<|endoftext|>", "[MASK]", " [MASK] ", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "<s>", "</s>", " </s> ",
    "<pad>", "<unk>", "<mask>", "<extra_id_0>", "<bos>", "<eos>", "[mask]", "<|endoftext", "▁", "▁▁", "▁a",
    "Ġ", "Ċ", "Ġcat", "##ing", "##", "<0x0A>", "<0xE2>", "|", "quoted", "<new>", "de_DE",
    "a" * 60, "ab" * 40, "x" * 120, "supercalifragilistic" * 4, "é" * 30, "😀" * 12, "\u0301" * 6,
)  # fmt: skip


def odd_texts(count: int = 2_000) -> list[str]:
    """As many different texts."""
    chance = random.Random(SEED)
    texts = dict.fromkeys(("", *PIECES))
    while len(texts) < count:
        parts = [
            chance.choice(PIECES) if chance.random() < 0.9 else _any(chance) for _ in range(chance.randint(1, LONGEST))
        ]
        texts[chance.choice(("", "", " ")).join(parts)] = None
    return list(texts)[:count]


def _any(chance: random.Random) -> str:
    """Any character, one of the first kilobyte more often."""
    return chr(chance.randrange(chance.choice((0x400, 0x3000, 0x30000))))
