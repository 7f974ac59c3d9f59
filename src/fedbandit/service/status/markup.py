"""The HTML of the coordinator's pages, which scripts fill: what the pages have in common stands in `frame.html`."""

from __future__ import annotations


def status_markup() -> str:
    """Return the status page.

    >>> "Status of the coordinator" in status_markup()
    True
    """
    return _filled("coordinator.html", root="", script="status.js")


def one_site_markup() -> str:
    """Return the page of one site, which stands two folders further down: /sites/FEDERATION/SITE.

    >>> "Status of a site" in one_site_markup()
    True
    """
    return _filled("site.html", root="../../", script="site.js")


def _filled(template: str, *, root: str, script: str) -> str:
    from jinja2 import Environment as Templates  # slow to import, and commands that serve no page need not wait
    from jinja2 import PackageLoader

    templates = Templates(loader=PackageLoader("fedbandit.service.status"), autoescape=True, trim_blocks=True)
    page: str = templates.get_template(template).render(root=root, script=script)
    return page
