"""A federation as a Flower app: `client_app` and `server_app` for organisations that run Flower already.

Frames travel in Flower's messages. A site is the `SiteLife` of a deployment, kept in Flower's context between
messages; the server is the `DurableServer` of a coordinator, with all its checks.
"""

from fedbandit.flower.apps import client_app, server_app
from fedbandit.flower.site import Turn

__all__ = ["Turn", "client_app", "server_app"]
