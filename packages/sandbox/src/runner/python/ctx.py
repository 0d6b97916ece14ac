"""The object that is passed to a node. Members have their protocol name and its snake_case form."""

import copy
import re

from channel import HostError, emit_event, receive, send, send_call
from scope import need_stack

LOGS_MAX = 1000
LOG_TEXT_MAX = 8 * 1024
LISTED_MAX = 12


class Suspended(BaseException):
    """Exits the node. The invocation is suspended even if the node catches it."""


def camel(name):
    return re.sub(r'_([a-z0-9])', lambda match: match.group(1).upper(), name)


class Absent(AttributeError):
    """A member that the host lacks: `hasattr` is false, and using it untested fails with `host_capability_missing`."""

    def __init__(self, owner, name, members):
        path = f'{owner}{name}'
        listed = ', '.join(sorted(members)[:LISTED_MAX]) + (', …' if len(members) > LISTED_MAX else '')
        owner_path = f'ctx.{owner}'[:-1]
        super().__init__(
            f'This host does not offer ctx.{path}. {owner_path} has {listed}. Test for what a host may lack before using it.'
        )
        self.code = 'host_capability_missing'
        self.details = {'capability': f'host.{path}'}


class Members:
    """Attributes from a table; others raise `Absent`. A function may have members too."""

    def __init__(self, members, call=None, path=''):
        self.__dict__.update(members)
        self._call = call
        self._path = path

    def __getattr__(self, name):
        found = camel(name)
        if found == name or found not in self.__dict__:
            raise Absent(self._path, found, [member for member in self.__dict__ if member[0] != '_'])
        return self.__dict__[found]

    def __call__(self, *args):
        if self._call is None:
            raise TypeError('This member of ctx is not a function.')
        return self._call(*args)


class Invocation:
    def __init__(self, message):
        self.id = message['id']
        self.given = message['ctx']
        self.answers = message['answers']
        self.surfaces = message['surfaces']
        self.variables = message['variables']
        self.written = {}
        self.suspension = None
        self._suspensions = 0
        self._calls = 0
        self._logs = 0
        self._answered = {}
        self._hearers = {}

    def next_call(self):
        need_stack()
        self._calls += 1
        return self._calls - 1

    def call(self, method, args, on_event=None):
        """Sends a call and receives messages until its answer arrives."""
        number = self._begin(method, args, on_event)
        while number not in self._answered:
            self._hear()
        return self._take(number)

    def stream(self, method, args):
        events = []
        number = self._begin(method, args, events.append)
        while True:
            while events:
                yield events.pop(0)
            if number in self._answered:
                self._take(number)
                return
            self._hear()

    def _begin(self, method, args, on_event):
        number = self.next_call()
        self._hearers[number] = on_event
        send_call({'id': self.id, 'call': number, 'method': method}, args)
        return number

    def _take(self, number):
        answer = self._answered.pop(number)
        self._hearers.pop(number, None)
        if answer['ok']:
            return answer.get('value')
        raise HostError(answer['error'])

    def _hear(self):
        message = receive()
        if message.get('id') != self.id:
            return
        if message['type'] == 'answer':
            self._answered[message['call']] = message
        elif message['type'] == 'event':
            hearer = self._hearers.get(message['call'])
            if hearer is not None:
                hearer(message.get('value'))
            send({'type': 'ack', 'id': self.id, 'call': message['call']})

    def log(self, level, text, data=None):
        """Bounded per invocation; further entries are dropped, not queued."""
        if self._logs >= LOGS_MAX:
            return
        self._logs += 1
        entry = {'type': 'log', 'id': self.id, 'level': str(level), 'message': str(text)[:LOG_TEXT_MAX]}
        try:
            send(entry if data is None else {**entry, 'data': data})
        except (TypeError, ValueError) as error:
            send({**entry, 'message': f'{entry["message"]} (Its data was dropped: {error})'})

    def emit(self, value):
        emit_event({'id': self.id, 'call': self.next_call()}, value)

    def get_variable(self, name):
        return copy.deepcopy(self.variables.get(str(name)))

    def set_variable(self, name, value):
        self.variables[str(name)] = self.written[str(name)] = copy.deepcopy(value)

    def suspend(self, request=None):
        """The first time, this ends the invocation. When the node runs again, the stored answer is returned."""
        request = request or {}
        ordinal, self._suspensions = self._suspensions, self._suspensions + 1
        node_id = self.given['nodeId']
        default = node_id if ordinal == 0 else f'{node_id}:{ordinal}'
        key = str(request.get('resumeKey') or request.get('key') or default)
        if key in self.answers:
            return self.answers[key]
        self.suspension = {'kind': 'suspended', 'key': key, 'request': request}
        raise Suspended()


def _with_callback(invocation, path, args):
    args = list(args)
    on_event = args.pop() if args and callable(args[-1]) else None
    return invocation.call(path, args, on_event)


def _member(invocation, path, kind):
    if kind in ('terminate', 'directive'):
        return lambda request=None: {'status': kind, 'request': request or {}}
    if kind == 'stream':
        return lambda *args: invocation.stream(path, args)
    if kind == 'callback':
        return lambda *args: _with_callback(invocation, path, args)
    return lambda *args: invocation.call(path, args)


# Primitives are members of ctx, since a pack has no sockets or files. Maps each path to its method and grant.
PRIMITIVES = {'fetch': ('net.fetch', 'net.outbound'), 'lookup': ('net.dns', 'net.dns')}
for _name in ('readFile', 'readdir', 'stat', 'access'):
    PRIMITIVES[f'file.{_name}'] = (f'file.{_name}', 'fs.read')
for _name in ('writeFile', 'appendFile', 'mkdir', 'rm', 'unlink', 'rename', 'copyFile'):
    PRIMITIVES[f'file.{_name}'] = (f'file.{_name}', 'fs.write')


def _denied(needed):
    def deny(*_):
        message = f'The pack was not granted {needed}.'
        details = {'requestedCapability': needed}
        raise HostError({'code': 'sandbox_capability_denied', 'message': message, 'details': details})

    return deny


def _build(tree, path):
    call = tree.pop('', None)
    members = {name: _build(branch, f'{path}{name}.') for name, branch in tree.items()}
    return Members(members, call, path) if members or call is None else call


def make_ctx(invocation, grants):
    tree = {}

    def add(path, function):
        branch = tree
        for name in path.split('.'):
            branch = branch.setdefault(name, {})
        branch[''] = function

    for path, (method, needed) in PRIMITIVES.items():
        add(path, _member(invocation, method, 'unary') if needed in grants else _denied(needed))
    for path, kind in invocation.surfaces.items():
        if kind != 'denied':
            add(path, _member(invocation, path, kind))
    built = {name: _build(branch, f'{name}.') for name, branch in tree.items()}
    variables = Members({'get': invocation.get_variable, 'set': invocation.set_variable}, path='variables.')
    own = {'log': invocation.log, 'emit': invocation.emit, 'suspend': invocation.suspend}
    return Members({**built, **invocation.given, **own, 'variables': variables})
