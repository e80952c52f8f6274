"""The measurements on the Positions page: the losses of one model trained with each encoding."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import streamlit as st

from headlight_app.engine.client import ask_shared
from headlight_app.engine.models import AvailableModel
from headlight_app.positions.contract import LossRow, LossTable, MeasuredLoss, PositionLossesRequest

STYLESHEET = Path(__file__).parent / "losses.css"


def measured_losses(entry: AvailableModel) -> list[LossTable]:
    """A table for each measured series of models, the open model's architecture first."""
    tables = ask_shared(PositionLossesRequest()).answer.tables
    return sorted(tables, key=lambda table: table.architecture != entry.config.architecture)


def show(tables: Sequence[LossTable], entry: AvailableModel) -> None:
    """Show each table; the page's component draws the charts."""
    if not tables:
        return
    st.html(STYLESHEET)
    st.header("What each encoding is worth", anchor=False)
    st.markdown(
        "One small model, trained once with each positional encoding on the same texts, in the same order, and "
        "otherwise identical. The loss is in bits per token of held-out books: lower is better."
    )
    for table in tables:
        st.subheader(f"{table.architecture.capitalize()}s", anchor=False)
        st.html(table_html(table, entry.name))
        st.caption(_note(table))
    with st.expander("The commands that measured this", icon=":material/terminal:"):
        for table in tables:
            st.code(table.command, language=None, wrap_lines=True)


def table_html(table: LossTable, open_model: str) -> str:
    """The losses as an HTML table; the row of the open model is marked."""
    trained, *longer = table.lengths
    heads = [
        f"{trained} tokens<small>trained length</small>",
        *(f"{length} tokens<small>{length // trained} × as long</small>" for length in longer),
        f"{trained} tokens<small>words shuffled</small>",
    ]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows = "".join(_row_html(row, is_open=row.question.model == open_model) for row in table.rows)
    return (
        f'<div class="headlight-losses" tabindex="0" role="region" aria-label="Losses of {table.architecture}s">'
        f'<table data-testid="losses"><thead><tr><th scope="col">Positional encoding</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row_html(row: LossRow, *, is_open: bool) -> str:
    cells = "".join(f"<td>{_loss_html(loss)}</td>" for loss in (*row.losses, row.shuffled))
    mark, badge = (' class="open"', "<small>open now</small>") if is_open else ("", "")
    return f'<tr{mark}><th scope="row">{escape(row.title)}{badge}</th>{cells}</tr>'


def _loss_html(loss: MeasuredLoss | None) -> str:
    if loss is None:
        return '<span class="past" title="Its table of positions ends where training ended.">no such positions</span>'
    return f"{loss.mean:.3f}<small>± {loss.standard_error:.3f}</small>"


def _note(table: LossTable) -> str:
    """How to read the numbers."""
    spread = ", ".join(f"{value:.3f}" for value in table.seed_spread)
    seeds = (
        f"With other seeds a model's losses differ by up to {spread} (column by column): ignore smaller differences."
        if spread
        else "The effect of another seed on these losses has not been measured yet."
    )
    which = "masked tokens" if table.architecture == "encoder" else "tokens"
    apart = " Do not compare them with a decoder's bits." if table.architecture == "encoder" else ""
    return (
        f"At every length the same {table.target_count:,} {which} are predicted, the last ones of each text; longer "
        f"texts start earlier.{apart} ± is the standard error. {seeds}"
    )
