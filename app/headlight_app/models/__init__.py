"""The Models page: the models that can be opened, and uploads."""
