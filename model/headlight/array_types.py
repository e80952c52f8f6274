"""Array types with shapes: from jaxtyping if it is installed (tests check them), else without effect.

Headlight runs without jaxtyping.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Shaped
else:
    try:
        from jaxtyping import Bool, Float, Int, Shaped
    except ImportError:

        class _Unchecked:
            """Makes `Float[Tensor, "pos d_model"]` a plain Tensor."""

            def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
                return item[0]

        Bool = Float = Int = Shaped = _Unchecked


__all__ = ["Bool", "Float", "Int", "Shaped"]
