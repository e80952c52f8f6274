"""The files of a checkpoint: tensors on disk, single-file formats, uploads."""
