"""How large a live page is as one file."""

LARGE = 60_000_000  # bytes of a file that a reader fetches again at each visit
_BYTES_PER_PARAMETER = 2.2  # float16 in base64, after it was deflated: measured between 1.9 and 2.5
_SHARED_BYTES = 700_000  # code, font and style sheets


def file_bytes(parameter_count: int) -> float:
    """The approximate size of a page with weights in float16."""
    return _SHARED_BYTES + _BYTES_PER_PARAMETER * parameter_count
