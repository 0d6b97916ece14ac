"""The process that runs Python packs. Started by the host; frames say what to load and run."""

import os
import sys
from gc import collect as collect_garbage

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import ctx  # noqa: E402
import environment  # noqa: E402
import guard  # noqa: E402
import loader  # noqa: E402
from channel import receive, send  # noqa: E402
from scope import enter  # noqa: E402
from wire import fault_path  # noqa: E402

sys.path.remove(HERE)
# Frees these names for the pack, which may have its own `loader`.
for _name in ('channel', 'ctx', 'environment', 'guard', 'loader', 'scope', 'wire'):
    del sys.modules[_name]


FRAMES_MAX = 5


def frames_of(error, folder):
    """The locations in the pack where it was raised, innermost first: `nodes.py:12`."""
    trace = error.__traceback__
    locations = []
    while trace is not None:
        locations.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        locations.append((error.filename, error.lineno))
    inside = [(file, line) for file, line in reversed(locations) if str(file).startswith(f'{folder}/')]
    return [f'{file[len(folder) + 1 :]}:{line}' for file, line in inside[:FRAMES_MAX]]


def describe(error, folder=''):
    """Converts an exception to data."""
    if isinstance(error, MemoryError):
        return {'message': 'The pack exceeded its memory limit.', 'code': 'sandbox_memory_exceeded'}
    if isinstance(error, SystemExit):
        return {'message': 'The pack ended the interpreter.'}
    try:
        described = {'message': str(error) or type(error).__name__}
        for name in ('code', 'details', 'retryable', 'capability'):
            value = getattr(error, name, None)
            if isinstance(value, (str, bool, dict)):
                described[name] = value
        return {**described, 'frames': frames_of(error, folder)}
    except BaseException:
        return {'message': 'The pack raised something that cannot be read.'}


class Runner:
    def __init__(self):
        self._nodes = {}
        self._grants = ()
        self._folder = ''

    def open(self, message):
        self._grants = message['grants']
        self._folder = message['folder']
        environment.furnish(message['envNames'])
        guard.close(message['folder'])
        send({'type': 'opening'})
        try:
            self._nodes = loader.load(message['folder'], message['entry'])
            send({'type': 'ready', 'typeIds': list(self._nodes)})
        except BaseException as error:
            send({'type': 'failed', 'error': describe(error, self._folder)})

    def invoke(self, message):
        invocation = ctx.Invocation(message)
        enter(invocation)
        try:
            end = self._end_of(invocation, message['typeId'])
        finally:
            enter(None)
        settle(invocation, end)

    def _end_of(self, invocation, type_id):
        node = self._nodes.get(type_id)
        if node is None:
            error = {'message': f'The pack exports no {type_id}.', 'code': 'unknown_type_id'}
            return {'kind': 'thrown', 'error': error}
        try:
            value = node(ctx.make_ctx(invocation, self._grants))
            if hasattr(value, 'cr_frame'):
                value.close()
                raise TypeError('A node is a plain function; async def is not supported.')
        except BaseException as error:
            if invocation.suspension is None:
                return {'kind': 'thrown', 'error': describe(error, self._folder)}
        return invocation.suspension or {'kind': 'returned', 'value': value}


def settle(invocation, end):
    frame = {'type': 'result', 'id': invocation.id}
    try:
        send({**frame, 'end': end, 'variables': invocation.written})
    except (TypeError, ValueError, MemoryError, RecursionError) as error:
        path = fault_path(end.get('value')) or fault_path({'variables': invocation.written})
        thrown = {'message': f'The result cannot be sent: {path and path + ": "}{error}'}
        send({**frame, 'end': {'kind': 'thrown', 'error': thrown}, 'variables': {}})


def main():
    runner = Runner()
    while True:
        message = receive()
        if message['type'] == 'open':
            runner.open(message)
        elif message['type'] == 'invoke':
            runner.invoke(message)
        elif message['type'] == 'collect':
            collect_garbage()
        elif message['type'] == 'ping':
            send({'type': 'pong', 'token': message['token']})


main()
