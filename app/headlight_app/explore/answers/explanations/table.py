"""What the page explains beside its panels, without a tab, by name."""

from __future__ import annotations

from headlight.registry import Registry
from headlight_app.explore.answers.analyses.row import Analysis
from headlight_app.explore.answers.explanations.ledger import LEDGER
from headlight_app.explore.answers.explanations.offer import OFFER
from headlight_app.explore.answers.explanations.why import WHY

EXPLANATIONS: Registry[Analysis] = Registry("explanation", {"offer": OFFER, "why": WHY, "ledger": LEDGER})
