"""How large a live page is as one file."""

LARGE = 60_000_000  # bytes of a file that a reader fetches again at each visit
_BYTES_PER_PARAMETER = 2.07  # float16, deflated and in base64: so in stories-causal and in sentiment
_SHARED_BYTES = 530_000  # code, font and style sheets


def file_bytes(parameter_count: int) -> float:
    """The approximate size of a page with weights in float16."""
    return _SHARED_BYTES + _BYTES_PER_PARAMETER * parameter_count
