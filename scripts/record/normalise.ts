/** Replaces what differs between two recordings of the same behaviour: ids, times, durations, random texts. */

const ID = /[a-z]+_[0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Tokens, cursors, digests. */
const OPAQUE = /(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{32,}(?![\w-])/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DURATIONS: ReadonlySet<string> = new Set(['durationMs', 'observed', 'stalledForMs']);
const DAY_MS = 86_400_000;

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

/**
 * The same id gets the same name in all that one normaliser sees. Times within a day of `now` are masked; fixed ones
 * stay. A failure is kept by its code: its text may be made clearer.
 *
 * @example createNormaliser(Date.now())({ runId: 'run_01k5v2h0q8m3x9t4z7c6b1n0da' }) // { runId: 'run#1' }
 */
export function createNormaliser(now: number): (value: unknown) => unknown {
  const names = new Map<string, string>();
  const named = (id: string, kind: string): string => {
    const name = names.get(id) ?? `${kind}#${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  const isNow = (ms: number): boolean => Math.abs(ms - now) < DAY_MS;
  const text = (value: string): string =>
    value
      .replace(ID, (id) => named(id, id.includes('_') ? id.slice(0, id.indexOf('_')) : 'id'))
      .replace(TIME, (time) => (isNow(Date.parse(time)) ? '<time>' : time))
      .replace(OPAQUE, (token) => named(token, 'token'));
  const normalise = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return DURATIONS.has(key) ? '<ms>' : isNow(value) ? '<time>' : value;
    if (value instanceof Uint8Array) return bytesOf(value);
    if (Array.isArray(value)) return value.map((each) => normalise(each));
    if (!isTree(value)) return value;
    if (typeof value.code === 'string' && typeof value.message === 'string') return { code: value.code };
    const sorted = Object.keys(value).sort();
    return Object.fromEntries(sorted.map((name) => [text(name), normalise(value[name], name)]));
  };
  return (value) => normalise(value);
}

/** A PDF holds the time at which it was made, compressed. */
const bytesOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(0, 4)).toString() === '%PDF' ? '<pdf>' : `<${bytes.length} bytes>`;

/** What two recordings do not share, as readable lines; empty when they are the same. */
export function differences(before: string, after: string): string[] {
  const [old, young] = [read(before), read(after)];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((key) => {
    if (!young.has(key)) return [`- ${key}`];
    if (!old.has(key)) return [`+ ${key}`];
    const changed = changes(old.get(key), young.get(key), '');
    return changed.length === 0 ? [] : [`  ${key}`, ...changed];
  });
}

function read(recording: string): Map<string, unknown> {
  const lines = recording.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => JSON.parse(line)).map(({ part, of, is }) => [`${part} ${of}`, is]));
}

/** Down to the members that differ. */
function changes(from: unknown, to: unknown, path: string): string[] {
  if (JSON.stringify(from) === JSON.stringify(to)) return [];
  if (!isTree(from) || !isTree(to))
    return [`    - ${path} ${JSON.stringify(from)}`, `    + ${path} ${JSON.stringify(to)}`];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) => changes(from[name], to[name], `${path}/${name}`));
}
