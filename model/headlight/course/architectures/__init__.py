"""The chapter on architectures: three shapes, and the models that have them."""
