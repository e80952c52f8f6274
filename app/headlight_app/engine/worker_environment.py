"""The environment variables of a worker, which reads files of strangers and so gets no token or password."""

from __future__ import annotations

from collections.abc import Mapping

STATUS_TOKEN = "HEADLIGHT_STATUS_TOKEN"
OF_HEADLIGHT = "HEADLIGHT_"
# Of the system, of Python, and of the libraries that torch computes with.
_NAMES = {
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV"),
    *("SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"),
    *("NUMBER_OF_PROCESSORS", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HUGGINGFACE_HUB_CACHE"),
}
_PREFIXES = (
    *(OF_HEADLIGHT, "PYTHON", "CONDA_", "LC_", "LD_", "DYLD_", "XDG_", "COVERAGE_"),
    *("OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "VECLIB_", "NUMEXPR_", "TORCH", "PYTORCH_", "ATEN_"),
    *("CUDA_", "CUBLAS_", "NVIDIA_", "NCCL_", "ROCR_", "HIP_", "HSA_", "MIOPEN_", "TRITON_"),
)


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a worker on this machine needs."""
    return {name: value for name, value in environment.items() if _is_passed(name.upper())}


def _is_passed(name: str) -> bool:
    return name != STATUS_TOKEN and (name in _NAMES or name.startswith(_PREFIXES))
