"""What pages share: open models, traces, examples, images."""
