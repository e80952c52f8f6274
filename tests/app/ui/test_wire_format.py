"""What goes to the browser is small and can be read back."""

from hypothesis import given
from hypothesis import strategies as st

from app.ui.wire_format import pack, unpack


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), st.binary(max_size=50))
def test_what_was_packed_comes_out_aligned(meta: dict[str, object], numbers: bytes) -> None:
    packed = pack(meta, numbers)
    assert unpack(packed) == (meta, numbers)
    assert (len(packed) - len(numbers)) % 4 == 0
