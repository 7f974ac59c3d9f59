"""What a protocol declares, by name."""

import inspect


def members_of(protocol):
    """Return all names, of what it inherits too."""
    declared = [each for kind in protocol.__mro__ for each in inspect.get_annotations(kind)]
    return {each for each in [*declared, *dir(protocol)] if not each.startswith("_")}


def methods_of(protocol):
    return sorted(each for each in members_of(protocol) if callable(getattr(protocol, each, None)))
