"""The running invocation; None while the module loads."""

# More than the runner needs between a call of the pack and the pipe.
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
    """Raises `RecursionError` if the pack has left too little stack, before anything is counted or sent."""
    if frames > 0:
        need_stack(frames - 1)
