"""The child's end of the channel: frames arrive on one descriptor, leave on the next, and answers to blocking
calls arrive on the third.

One invocation runs at a time, so a call sends its frame and then reads until its answer arrives.
"""

from collections import deque

from wire import Reader, TooLarge, encode, encode_note, write

INPUT, OUTPUT, ANSWERS = 3, 4, 5
# Mirrors the limit of the host; see credit.ts.
CREDIT_BYTES = 8 * 1024 * 1024

_input = Reader(INPUT)
_answers = Reader(ANSWERS)
_later = deque()
_owed = 0


class HostError(Exception):
    """An error answer of the host, with its code."""

    def __init__(self, error):
        super().__init__(error.get('message', 'The host could not do that.'))
        self.code = error.get('code')
        self.details = error.get('details')
        self.capability = (self.details or {}).get('capability')
        self.retryable = error.get('retryable') is True


def send(message):
    """Sends at once. For messages that the host always accepts: results, logs, refusals."""
    write(OUTPUT, encode_note(message) if message['type'] == 'log' else encode(message))


def receive():
    """The next message that is not about credit."""
    while not _later:
        _read()
    return _later.popleft()


def _read():
    global _owed
    message = _input.read()
    if message['type'] == 'credit':
        _owed -= message['bytes']
    else:
        _later.append(message)


def _unsent(head, error):
    """Replaces a call or event that no frame can carry. It uses the same number, and the host fails it."""
    return encode({**head, 'type': 'unsent', 'reason': str(error), 'isTooLarge': isinstance(error, TooLarge)})


def _call_frame(head, args):
    try:
        return encode({**head, 'type': 'call', 'args': list(args)})
    except TooLarge as error:
        return _unsent(head, TooLarge(f'What is sent is too large. {error}'))
    except (TypeError, ValueError, RecursionError) as error:
        return _unsent(head, error)


def _send_with_credit(frame):
    """Waits until the host has capacity. Calls and emitted events cost credit."""
    global _owed
    while _owed >= CREDIT_BYTES:
        _read()
    _owed += frame.cost
    write(OUTPUT, frame)


def send_call(head, args):
    """A call whose answer arrives with the other messages."""
    _send_with_credit(_call_frame({**head, 'mode': 'async'}, args))


def emit_event(head, value):
    """Raises an error if the event cannot be sent."""
    try:
        frame = encode_note({**head, 'type': 'emit', 'value': value})
    except (TypeError, ValueError, RecursionError) as error:
        _send_with_credit(_unsent({**head, 'mode': 'emit'}, error))
        raise
    _send_with_credit(frame)


def ask(message):
    """A call whose answer arrives on the blocking pipe; also used while the module loads."""
    send({**message, 'type': 'call', 'mode': 'sync'})
    answer = _answers.read()
    if answer['ok']:
        return answer.get('value')
    raise HostError(answer['error'])
