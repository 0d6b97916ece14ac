"""Frames between host and child, as in wire.mjs: two lengths, a JSON head, then the bytes it points to."""

import io
import json
import math
import os
import re
import struct

HEAD_BYTES_MAX = 16 * 1024 * 1024
BYTES_MAX = 33 * 1024 * 1024
PARTS_MAX = 65_536
VALUES_MAX = 1_000_000
MEMBER_VALUES = 10
NOTE_BYTES_MAX = 65 * 1024
VALUE_COST = 8
FRAME_COST_MIN = 1024
DEPTH_MAX = 200
SAFE_INTEGER_MAX = 2**53 - 1
LENGTHS = struct.Struct('>II')
ESCAPED = re.compile(r'^\$+bytes$')
CHUNK_BYTES = 256 * 1024


def lower(value, parts, depth=0):
    """The value as JSON would represent it, with bytes extracted."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if abs(value) > SAFE_INTEGER_MAX:
            raise TypeError('An integer beyond 2^53 cannot leave the sandbox; send a string.')
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f'{value} cannot leave the sandbox, since JSON cannot represent it; send None or a string.')
        return value
    if depth > DEPTH_MAX:
        raise ValueError('The value is nested too deeply.')
    if isinstance(value, (bytes, bytearray, memoryview)):
        parts.append(bytes(value))
        return {'$bytes': len(parts) - 1}
    if isinstance(value, (list, tuple)):
        return [lower(item, parts, depth + 1) for item in value]
    if isinstance(value, dict):
        if '__proto__' in value:
            raise ValueError('A member named __proto__ cannot leave the sandbox.')
        return {
            f'${key}' if ESCAPED.match(str(key)) else str(key): lower(item, parts, depth + 1)
            for key, item in value.items()
        }
    raise TypeError(f'A value of type {type(value).__name__} cannot leave the sandbox.')


def fault_path(value, path='', depth=0):
    """The path of the first value that cannot be sent; empty when none is found, or when the problem is the depth."""
    if depth > DEPTH_MAX:
        return ''
    is_list = isinstance(value, (list, tuple))
    for key, item in enumerate(value) if is_list else value.items() if isinstance(value, dict) else ():
        try:
            lower(item, [])
        except (TypeError, ValueError, RecursionError):
            inner = f'{path}[{key}]' if is_list else f'{path}.{key}' if path else str(key)
            return fault_path(item, inner, depth + 1)
    return path


def lift(value, parts):
    if isinstance(value, list):
        return [lift(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    if '$bytes' in value:
        return parts[value['$bytes']]
    return {key[1:] if ESCAPED.match(key) else key: lift(item, parts) for key, item in value.items()}


class TooLarge(ValueError):
    """A value that no frame can carry."""


def count(value):
    """Counts as data.mjs does: each element once, each member of an object ten times."""
    if isinstance(value, list):
        return max(len(value), 1) + sum(count(item) for item in value)
    if isinstance(value, dict):
        return max(MEMBER_VALUES * len(value), 1) + sum(count(item) for item in value.values())
    return 0


class Frame(list):
    """Pieces to be written in order, and their cost in credit."""

    def __init__(self, pieces, values):
        super().__init__(pieces)
        self.size = sum(len(piece) for piece in pieces)
        self.cost = max(self.size, values * VALUE_COST, FRAME_COST_MIN)


def encode(message):
    """Raises an error if the value is too deep, too large or not data."""
    parts = []
    head = lower(message, parts)
    lengths = [len(part) for part in parts]
    text = json.dumps([head, lengths]).encode()
    size = sum(lengths)
    if len(text) > HEAD_BYTES_MAX:
        raise TooLarge(f'It takes {len(text)} bytes as JSON; at most {HEAD_BYTES_MAX} fit.')
    if size > BYTES_MAX:
        raise TooLarge(f'It holds {size} bytes; at most {BYTES_MAX} fit.')
    if len(parts) > PARTS_MAX:
        raise TooLarge(f'It holds {len(parts)} pieces of bytes; at most {PARTS_MAX} fit.')
    values = count([head, lengths])
    if values > VALUES_MAX:
        raise TooLarge(
            f'It holds too much: at most {VALUES_MAX} values fit, and each member of a dict counts as ten.'
        )
    return Frame([LENGTHS.pack(len(text) + size, len(text)) + text, *parts], values)


def encode_note(message):
    """Encodes a log entry or an event."""
    size = 'more'
    try:
        frame = encode(message)
        size = frame.size
        if size <= NOTE_BYTES_MAX:
            return frame
    except TooLarge:
        pass
    raise TooLarge(f'A log entry or event can have at most {NOTE_BYTES_MAX} bytes; this one has {size}.')


class Reader:
    """Reads whole frames from a descriptor. The process exits at the end of the input."""

    def __init__(self, descriptor):
        # Opened at import, since the guard refuses it later. Without a pipe, the process only checks that
        # Python starts.
        try:
            self._file = open(descriptor, 'rb', buffering=CHUNK_BYTES, closefd=False)
        except OSError:
            self._file = io.BytesIO()

    def _take(self, length):
        taken = self._file.read(length)
        if len(taken) < length:
            os._exit(0)
        return taken

    def read(self):
        _size, text_length = LENGTHS.unpack(self._take(LENGTHS.size))
        head, lengths = json.loads(self._take(text_length))
        return lift(head, [self._take(length) for length in lengths])


def write(descriptor, pieces):
    """Joins small pieces into one write; a large one is not copied."""
    small = []
    for piece in pieces:
        small.append(piece)
        if len(piece) >= CHUNK_BYTES:
            _write(descriptor, b''.join(small[:-1]))
            _write(descriptor, piece)
            small = []
    _write(descriptor, b''.join(small))


def _write(descriptor, piece):
    view = memoryview(piece)
    while view:
        view = view[os.write(descriptor, view) :]
