"""The invocation that is running; none while the module loads."""

_current = None


def current():
    return _current


def current_id():
    return None if _current is None else _current.id


def enter(invocation):
    global _current
    _current = invocation
