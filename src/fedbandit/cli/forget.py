"""`fedbandit forget`: take all that a site has ever sent out of what a federation knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fedbandit.cli.operating import FILE, Federation, File, federation_of
from fedbandit.files.amounts import counted

LEFT = """left to do:
- start the coordinator: it sends all other sites a model without this one. The status page shows who has it
- give the salt to the site, and delete it here: with it, and with what it has sent, the site can check the receipt
- backups of the journal, the site's own store, and policies that were saved as files are where you have put them
- choices that other sites have made, and what they have learnt from them, are not undone"""


def forget(
    federation: Federation,
    site: Annotated[str, typer.Argument(help="The site: its number, or its name on the roster.")],
    file: File = FILE,
    folder: Annotated[Path, typer.Option(help="Where the receipt and its salt are written.")] = Path(),
) -> None:
    """Forget a site, on the journal of a coordinator that is stopped: as if it had never sent anything."""
    from fedbandit.service.coordinator.erasing import forget as forget_site  # what only this command needs, is slow
    from fedbandit.service.coordinator.settings import read_plan

    plan = read_plan(file)
    forgotten = forget_site(plan, federation_of(plan, federation), site, folder)
    if forgotten is None:
        typer.echo(f"site {site} of {federation} was forgotten before")
        return
    erased = forgotten.erased
    anew = "\nthe model begins anew: the others move it without this site" if erased.restarted else ""
    typer.echo(
        f"site {erased.site} of {federation} is forgotten: {counted(erased.uploads, 'upload')} with "
        f"{counted(erased.observations, 'observation')}{anew}\n"
        f"receipt: {forgotten.receipt}\nsalt: {forgotten.salt}\n{LEFT}"
    )
