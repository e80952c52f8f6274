"""A worker gets what it computes with, and no secret of the operator's."""

from headlight_app.engine.worker_environment import worker_environment


def test_a_worker_gets_no_secret() -> None:
    needed = {"PATH": "/bin", "HEADLIGHT_MODELS": "/models", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "0"}
    secret = {"HEADLIGHT_STATUS_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x", "HF_TOKEN": "x", "DATABASE_URL": "x"}
    assert worker_environment(needed | secret) == needed
