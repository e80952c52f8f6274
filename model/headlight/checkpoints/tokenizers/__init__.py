"""The tokenizers of checkpoints without a tokenizer.json."""
