"""Files as a learner writes them: correct ones, and others with one slip each."""

IMPORTS = "import copy\nimport math\nimport torch\nfrom torch import nn\n"
SCALED = """
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.size(-1))
    weights = scores.softmax(dim=-1)
    return weights @ V, weights
"""
SINGLE = """
class SingleHeadAttention(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.query = nn.Linear(embed_dim, embed_dim, bias=False)
        self.key = nn.Linear(embed_dim, embed_dim, bias=False)
        self.value = nn.Linear(embed_dim, embed_dim, bias=False)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(dim=-1)
        self.weights = weights.detach()
        return weights @ v
"""
ATTENTION = """
def attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        mask = mask[:, None, :] if mask.dim() == 2 else mask
        mask = mask[:, None] if scores.dim() == 4 else mask
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(mask == 0, 0.0)
    kept = weights
    if dropout is not None:
        kept = dropout(weights)
    return kept @ value, weights
"""
HEADS = """
class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        batch = query.size(0)
        query, key, value = (
            linear(x).view(batch, -1, self.h, self.d_k).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value))
        )
        x, _ = attention(query, key, value, mask, self.dropout)
        x = x.transpose(1, 2).contiguous().view(batch, -1, self.h * self.d_k)
        return self.linears[-1](x)
"""
PARTS = {
    "scaled_dot_product_attention": SCALED,
    "SingleHeadAttention": SINGLE,
    "attention": ATTENTION,
    "MultiHeadedAttention": HEADS,
}
RIGHT = "\n".join((IMPORTS, *PARTS.values()))

# exercise, right code, replacement, and a part of the resulting sentence
SLIPS: tuple[tuple[str, str, str, str], ...] = (
    ("scaled_dot_product_attention", "Q @ K.transpose(-2, -1)", "K @ Q.transpose(-2, -1)", "rows and columns are"),
    ("scaled_dot_product_attention", " / math.sqrt(Q.size(-1))", "", "are not divided by √d_k"),
    ("scaled_dot_product_attention", "math.sqrt(Q.size(-1))", "math.sqrt(Q.size(1))", "number of tokens instead"),
    ("scaled_dot_product_attention", "/ math", "* math", "multiplied by √d_k"),
    ("scaled_dot_product_attention", "dim=-1", "dim=0", "over the examples of the batch"),
    ("scaled_dot_product_attention", "dim=-1", "dim=1", "over the queries instead of the keys"),
    ("scaled_dot_product_attention", "weights @ V, weights", "weights @ V", "weights are not returned"),
    ("scaled_dot_product_attention", "weights @ V, weights", "weights, weights @ V", "returned first"),
    ("scaled_dot_product_attention", "weights @ V, weights", "weights @ V, scores", "in place of the weights"),
    ("scaled_dot_product_attention", "return weights @ V, weights", "", "does not `return`"),
    ("scaled_dot_product_attention", "weights @ V,", "weights @ K,", "keys are averaged"),
    ("scaled_dot_product_attention", "weights @ V,", "weights.detach() @ V,", "leaves PyTorch's graph"),
    ("SingleHeadAttention", "self.weights = weights.detach()", "", "not kept after the forward"),
    ("SingleHeadAttention", "self.key(x)", "self.query(x)", "a layer is unused"),
    ("SingleHeadAttention", "self.value(x)", "x", "a layer is unused"),
    ("SingleHeadAttention", "math.sqrt(q.size(-1))", "q.size(-1)", "instead of its square root"),
    ("SingleHeadAttention", "self.value = nn.Linear(embed_dim, embed_dim, bias=False)", "", "differ from those"),
    ("SingleHeadAttention", "self.key = nn.Linear(embed_dim,", "self.key = nn.Linear(embed_dim, 3 *", "wrong size"),
    ("attention", "math.sqrt(query.size(-1))", "query.size(-1)", "instead of its square root"),
    ("attention", "weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=-2)", "over the queries"),
    ("attention", "weights = scores.softmax(dim=-1)", "weights = scores.softmax(dim=1)", "over the heads"),
    ("attention", "weights = scores.softmax(dim=-1)", "weights = scores", "there is no softmax"),
    ("attention", "weights = weights.masked_fill(mask == 0, 0.0)", "pass", "gives NaN"),
    ("attention", "scores = scores.masked_fill(mask == 0, float(\"-inf\"))", "pass", "applied after the softmax"),
    ("attention", "mask = mask[:, None] if scores.dim() == 4 else mask", "pass", "no axis for the heads"),
    ("attention", "mask = mask[:, None, :] if mask.dim() == 2 else mask", "pass", "already has the axes of the scores"),
    ("attention", "mask[:, None, :] if", "mask[:, :, None] if", "the mask is transposed"),
    ("attention", "dim() == 2 else mask", "dim() == 2 else mask.mT", "the mask is transposed"),
    ("attention", "dim() == 2 else mask", "dim() == 2 else torch.ones_like(mask)", "future is not masked"),
    ("attention", "if mask is not None:", "if False:", "no effect: padding"),
    ("attention", "if mask is not None:", "if mask:", "used as a condition"),
    ("attention", "mask == 0", "mask == 1", "the mask is inverted"),
    ("attention", "mask == 0", "mask.bool()", "the mask is inverted"),
    ("attention", "mask == 0", "~mask", "a mask of numbers is used"),
    ("attention", "float(\"-inf\")", "0.0", ""),
    ("attention", "dropout(weights)", "weights", "dropout has no effect"),
    ("attention", "return kept @", "return dropout(weights @ value) if dropout else weights @", "to the output"),
    ("attention", "dropout(weights)", "dropout(scores).softmax(dim=-1)", "to the scores"),
    ("attention", "dropout(weights)", "dropout(weights) * (1 - dropout.p)", "not scaled up"),
    ("attention", "dropout(weights)", "nn.functional.dropout(weights, dropout.p)", "also active in evaluation"),
    ("attention", "scores = query @", "query /= 2\n    query *= 2.5\n    scores = query @", "changed in place"),
    ("attention", "scores = scores.mask", "value[0] += 0.1\n        scores = scores.mask", "in place"),
    ("attention", "kept = weights\n", "kept = weights.mul_(1.0)\n", "changed in place"),
    ("MultiHeadedAttention", ".view(batch, -1, self.h, self.d_k).transpose(1, 2)\n",
     ".view(batch, self.h, -1, self.d_k)\n", "split by view alone"),
    ("MultiHeadedAttention", "x.transpose(1, 2).contiguous()", "x.contiguous()", "without being transposed back"),
    ("MultiHeadedAttention", ".contiguous()", "", "no longer in the order of its axes"),
    ("MultiHeadedAttention", "x.transpose(1, 2).cont", "x.permute(0, 2, 3, 1).cont", "channel by channel"),
    ("MultiHeadedAttention", "return self.linears[-1](x)", "return x", "output projection is missing"),
    ("MultiHeadedAttention", "linear(x).view", "self.linears[0](x).view", "layer for queries"),
    ("MultiHeadedAttention", "zip(self.linears, (query, key, value))",
     "zip(self.linears, (query, query, query))", "made from the query's input"),
    ("MultiHeadedAttention", "nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))",
     "[nn.Linear(d_model, d_model) for _ in range(4)]", "plain Python list"),
    ("MultiHeadedAttention", "nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))",
     "nn.ModuleList([nn.Linear(d_model, d_model)] * 4)", "the list contains one layer several times"),
    ("MultiHeadedAttention", "mask, self.dropout)", "mask)", "dropout has no effect"),
    ("MultiHeadedAttention", "mask, self.dropout)", "None, self.dropout)", "no effect: padding"),
    ("MultiHeadedAttention", "mask, self.dropout)",
     "mask, lambda w: nn.functional.dropout(w, self.dropout.p))", "also active in evaluation"),
    ("MultiHeadedAttention", "mask, self.dropout)",
     "mask, lambda w: self.dropout(w) * (1 - self.dropout.p * self.training))", "not scaled up"),
    ("MultiHeadedAttention", "mask, self.dropout)",
     "mask, lambda w: self.dropout(w.clamp(min=1e-30).log()).softmax(-1))", "applied to the scores"),
    ("MultiHeadedAttention", "(query, key, value, mask", "(key, query, value, mask", ""),
)  # fmt: skip


def with_slip(exercise: str, written: str, instead: str) -> str:
    """The correct file with one place of one exercise replaced."""
    part = PARTS[exercise]
    assert written in part, f"{written!r} is not in the solution of {exercise}"
    return RIGHT.replace(part, part.replace(written, instead))
