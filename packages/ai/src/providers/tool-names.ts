/** Converts tool names to a form that every family accepts, and back. */
import { createHash } from 'node:crypto';

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const NAME_MAX = 64;
const HASH_LENGTH = 8;

export interface ToolNames {
  /** The name to send for a tool. */
  toWire(name: string): string;
  /** The tool for a sent name; a name that was never sent is returned unchanged. */
  fromWire(name: string): string;
}

/** @example toolNames(['openwop:core.http']).toWire('openwop:core.http') // 'openwop_core_http_3f2a90c1' */
export function toolNames(names: Iterable<string>): ToolNames {
  const wire = new Map<string, string>();
  const known = new Map<string, string>();
  for (const name of new Set(names)) {
    const sent = PLAIN.test(name) ? name : plain(name);
    wire.set(name, sent);
    known.set(sent, name);
  }
  return {
    toWire: (name) => wire.get(name) ?? (PLAIN.test(name) ? name : plain(name)),
    fromWire: (name) => known.get(name) ?? name,
  };
}

/** The hash distinguishes names that differ only in replaced or cut characters. */
function plain(name: string): string {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  const readable = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return `${readable.slice(0, NAME_MAX - HASH_LENGTH - 1)}_${hash}`;
}
