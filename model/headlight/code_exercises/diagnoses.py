"""What wrong answers look like that no exchanged step of attention explains."""

from __future__ import annotations

from headlight.code_exercises.finding import Diagnosis, Hints

MASK_NEEDS_AXES = Diagnosis(
    "the function wants a mask that has the axes of the scores already, as many libraries do. Here a mask is (batch, "
    "key) or (batch, query, key).",
    Hints(
        nudge="Print the shapes of the scores and of the mask.",
        concrete="Give the mask an axis of length 1 for each axis of the scores that it lacks: queries, heads.",
        show_me="mask = mask[:, None, :] if mask.dim() == 2 else mask\nmask = mask[:, None] if scores.dim() == 4 else "
        "mask",
    ),
)
RETURNED_IN_OTHER_ORDER = Diagnosis(
    "the weights are returned first and the output second.",
    Hints(
        nudge="Which of the two does the task name first?",
        concrete="Return the output first, then the weights.",
        show_me="return output, weights",
    ),
)
WEIGHTS_NOT_RETURNED = Diagnosis(
    "the weights are not returned. They cannot be drawn.",
    Hints(
        nudge="What else has your function computed that people may want to see?",
        concrete="Return the output and the weights. F.scaled_dot_product_attention has no weights to give: with an "
        "identity matrix in place of the values its output is the weights.",
        show_me="return output, weights",
    ),
)
SCORES_RETURNED = Diagnosis(
    "the scores are returned in place of the weights: those before the softmax.",
    Hints(
        nudge="Does each row of what you return add up to 1?",
        concrete="Return what the softmax gives.",
        show_me="return output, weights",
    ),
)
WEIGHTS_NOT_KEPT = Diagnosis(
    "the weights are forgotten after the forward. They cannot be drawn.",
    Hints(
        nudge="Where could a picture of the weights find them?",
        concrete="Keep the weights as an attribute in forward, detached from the graph; any name will do.",
        show_me="self.weights = weights.detach()",
    ),
)
INPUT_CHANGED = Diagnosis(
    "an input is changed in place. Code that uses it afterwards, such as the residual connection, gets other numbers.",
    Hints(
        nudge="Look for methods that end with an underscore, and for +=, /= and the like.",
        concrete="Make a new tensor instead: x = x / 2, masked_fill, unsqueeze without the underscore.",
        show_me="scores = scores / math.sqrt(d_k)",
    ),
)
CHANGED_FOR_GRADIENT = Diagnosis(
    "a tensor is changed in place that the gradient still needs, such as the weights after the softmax.",
    Hints(
        nudge="Look for methods that end with an underscore, and for weights[...] = ... .",
        concrete="Make a new tensor instead: masked_fill without the underscore, and before the softmax.",
        show_me='scores = scores.masked_fill(mask == 0, float("-inf"))',
    ),
)
NO_GRADIENT = Diagnosis(
    "the computation leaves PyTorch's graph (detach, .data, item, NumPy, torch.tensor), or a layer is unused.",
    Hints(
        nudge="Which step makes a number that does not remember where it came from?",
        concrete="Compute with the tensors as they are, and detach only what is kept for a picture.",
        show_me="weights = scores.softmax(dim=-1)",
    ),
)
DROPOUT_IGNORED = Diagnosis(
    "dropout has no effect.",
    Hints(
        nudge="Where do you use `dropout`?",
        concrete="Apply the dropout to the weights, after the softmax and before the values.",
        show_me="if dropout is not None:\n    weights = dropout(weights)",
    ),
)
DROPOUT_ON_OUTPUT = Diagnosis(
    "dropout falls on the output or on the values instead of the weights: channels vanish, not glances.",
    Hints(
        nudge="What is it that shall be forgotten at random: channels, or keys?",
        concrete="Apply the dropout to the weights, before they meet the values.",
        show_me="output = dropout(weights) @ value",
    ),
)
DROPOUT_ON_SCORES = Diagnosis(
    "dropout falls on the scores, before the softmax. A score of 0 is not nothing: the softmax makes e⁰ = 1 of it, so "
    "that every key keeps a weight.",
    Hints(
        nudge="Are some of your weights exactly 0 in training?",
        concrete="Apply the dropout after the softmax.",
        show_me="weights = dropout(scores.softmax(dim=-1))",
    ),
)
DROPOUT_NOT_RESCALED = Diagnosis(
    "some weights are dropped, but the others are not made larger. In evaluation, when all are there, the outputs are "
    "then too large.",
    Hints(
        nudge="What is the mean of a weight that is dropped every other time?",
        concrete="Divide what is kept by 1 - p, as nn.Dropout does.",
        show_me="weights = nn.functional.dropout(weights, p, training)",
    ),
)
DROPOUT_ELSEWHERE = Diagnosis(
    "dropout falls on something else than the weights.",
    Hints(
        nudge="What does the task say is dropped?",
        concrete="Apply the dropout to the weights, after the softmax and before the values.",
        show_me="output = dropout(weights) @ value",
    ),
)
DROPOUT_IN_EVALUATION = Diagnosis(
    "dropout also works in evaluation mode, so that the same text gives another answer each time.",
    Hints(
        nudge="What does model.eval() change in your code?",
        concrete="Call the nn.Dropout module, which knows its mode; nn.functional.dropout must be told.",
        show_me="weights = nn.functional.dropout(weights, dropout.p, dropout.training)",
    ),
)
