"""`fedbandit abandon`: give up a secure aggregation that waits for sites which are lost for good."""

from __future__ import annotations

import typer

from fedbandit.cli.operating import FILE, Federation, File, federation_of


def abandon(federation: Federation, file: File = FILE) -> None:
    """Give up a secure aggregation, on the journal of a coordinator that is stopped: its sum is never made."""
    from fedbandit.service.coordinator.abandoning import abandon as give_up  # what only this command needs, is slow
    from fedbandit.service.coordinator.settings import read_plan

    plan = read_plan(file)
    abandoned = give_up(plan, federation_of(plan, federation))
    lost, awaited = (", ".join(map(str, sites)) or "none" for sites in abandoned)
    typer.echo(
        f"the secure aggregation of {federation} is given up, which waited for sites {awaited}. Sites whose part in it "
        f"is lost: {lost}, and any that has answered since; the others keep theirs. Start the coordinator: it tells all"
    )
