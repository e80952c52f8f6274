"""The engine: worker processes that hold the models and read uploaded files, and the queue in front of them.

Neither this package nor the server process imports torch or tokenizers.
"""
