"""Frames between host and child, as in wire.mjs: two lengths, a JSON head, then the bytes it points to."""

import json
import math
import os
import re
import struct

FRAME_BYTES_MAX = 16 * 1024 * 1024
DEPTH_MAX = 200
SAFE_INTEGER_MAX = 2**53 - 1
HEAD = struct.Struct('>II')
ESCAPED = re.compile(r'^\$+bytes$')
CHUNK_BYTES = 256 * 1024


def lower(value, parts, depth=0):
    """What JSON would make of a value, with bytes put aside."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if abs(value) > SAFE_INTEGER_MAX:
            raise TypeError('An integer beyond 2^53 cannot leave the sandbox; send a string.')
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > DEPTH_MAX:
        raise ValueError('The value is nested too deeply.')
    if isinstance(value, (bytes, bytearray, memoryview)):
        parts.append(bytes(value))
        return {'$bytes': len(parts) - 1}
    if isinstance(value, (list, tuple)):
        return [lower(item, parts, depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            f'${key}' if ESCAPED.match(str(key)) else str(key): lower(item, parts, depth + 1)
            for key, item in value.items()
        }
    raise TypeError(f'A value of type {type(value).__name__} cannot leave the sandbox.')


def lift(value, parts):
    if isinstance(value, list):
        return [lift(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    if '$bytes' in value:
        return parts[value['$bytes']]
    return {key[1:] if ESCAPED.match(key) else key: lift(item, parts) for key, item in value.items()}


def encode(message):
    """One frame. Raises when the value is too deep, too large or no data."""
    parts = []
    head = lower(message, parts)
    text = json.dumps([head, [len(part) for part in parts]]).encode()
    size = len(text) + sum(len(part) for part in parts)
    if size > FRAME_BYTES_MAX:
        raise ValueError(f'A message of {size} bytes is too large.')
    return HEAD.pack(size, len(text)) + text + b''.join(parts)


class Reader:
    """Whole frames from a descriptor. The end of the input is the end of the process."""

    def __init__(self, descriptor):
        self._descriptor = descriptor
        self._pending = b''

    def _take(self, length):
        while len(self._pending) < length:
            chunk = os.read(self._descriptor, CHUNK_BYTES)
            if not chunk:
                os._exit(0)
            self._pending += chunk
        taken, self._pending = self._pending[:length], self._pending[length:]
        return taken

    def read(self):
        size, text_length = HEAD.unpack(self._take(HEAD.size))
        body = self._take(size)
        head, lengths = json.loads(body[:text_length])
        parts, offset = [], text_length
        for length in lengths:
            parts.append(body[offset : offset + length])
            offset += length
        return lift(head, parts)


def write(descriptor, frame):
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]
