from .grade import check

__all__ = ["check"]
