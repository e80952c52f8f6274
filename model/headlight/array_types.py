"""Array types with shapes: jaxtyping's where it is installed (tests check them), without effect elsewhere.

Nothing at run time needs jaxtyping.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Shaped
else:
    try:
        from jaxtyping import Bool, Float, Int, Shaped
    except ImportError:

        class _Unchecked:
            """`Float[Tensor, "pos d_model"]` is then simply a Tensor."""

            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Bool = Float = Int = Shaped = _Unchecked


__all__ = ["Bool", "Float", "Int", "Shaped"]
