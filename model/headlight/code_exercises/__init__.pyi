from .report import check

__all__ = ["check"]
