"""The engine: worker processes that hold the models and read strangers' files, and the queue in front of them.

Nothing here, and nothing that serves people, imports torch or tokenizers.
"""
