"""The invocation that is running; none while the module loads."""

# More than the runner takes from a call of the pack to the pipe.
FRAMES_NEEDED = 60

_current = None


def current():
    return _current


def current_id():
    return None if _current is None else _current.id


def enter(invocation):
    global _current
    _current = invocation


def need_stack(frames=FRAMES_NEEDED):
    """Raises `RecursionError` where the pack has left no room, before anything is counted or sent."""
    if frames > 0:
        need_stack(frames - 1)
