/** The difference of two runs: a function of their logs, read page by page, and of their current states. */
import { eventDocJson, type Json, type RunSnapshot, type StoredEvent } from '@gantry/protocol';
import { asJson, isObject } from '../json.ts';
import { type RunPair, sameValue } from './rebase.ts';

/** The maximum number of reported differences; further ones only set `truncated`. */
const DIFFERENCES_MAX = 1_000;
const BYTES_MAX = 8_000_000;
const DEPTH_MAX = 100;

/** Reads two logs in parallel and collects the differences as JSON text. */
export class EventDiffs {
  divergedAtSeq: number | null = null;
  truncated = false;
  readonly #a: string;
  readonly #b: string;
  readonly #ids: RunPair;
  readonly #found: string[] = [];
  #bytes = 0;

  constructor(a: string, b: string) {
    this.#a = a;
    this.#b = b;
    this.#ids = { sourceRunId: a, runId: b };
  }

  /** Adds the events of both runs at one sequence; undefined if a log has ended. */
  add(sequence: number, a: StoredEvent | undefined, b: StoredEvent | undefined): void {
    if (a && b && this.#isSame(a, b)) return;
    this.divergedAtSeq ??= sequence;
    const op = a === undefined ? 'added' : b === undefined ? 'removed' : 'changed';
    const aEvent = a === undefined ? '' : `,"aEvent":${eventDocJson(this.#a, a)}`;
    const bEvent = b === undefined ? '' : `,"bEvent":${eventDocJson(this.#b, b)}`;
    const found = `{"seq":${sequence},"op":"${op}"${aEvent}${bEvent}}`;
    this.#bytes += found.length;
    this.truncated = this.#found.length >= DIFFERENCES_MAX || this.#bytes > BYTES_MAX;
    if (!this.truncated) this.#found.push(found);
  }

  json(): string {
    return `[${this.#found.join(',')}]`;
  }

  /** Ignores ids, causes, times and sealed data, which differ between runs. */
  #isSame(a: StoredEvent, b: StoredEvent): boolean {
    if (a.type !== b.type) return false;
    return a.payload === b.payload || sameValue(JSON.parse(b.payload), JSON.parse(a.payload), this.#ids);
  }
}

type Difference = { a?: Json; b?: Json };

/** The differences between the masked states of two runs, by JSON pointer. */
export function stateDiff(
  a: RunSnapshot,
  b: RunSnapshot,
): { differences: { [pointer: string]: Difference }; truncated: boolean } {
  const found = new Map<string, Difference>();
  collect(found, '', stateOf(a), stateOf(b), 0);
  const truncated = found.size > DIFFERENCES_MAX;
  return { differences: Object.fromEntries([...found].slice(0, DIFFERENCES_MAX)), truncated };
}

const stateOf = ({ status, variables, channels, outputs, error }: RunSnapshot): Json =>
  asJson({ status, variables, channels, outputs, error });

function collect(
  found: Map<string, Difference>,
  pointer: string,
  a: Json | undefined,
  b: Json | undefined,
  depth: number,
): void {
  if (a === b || found.size > DIFFERENCES_MAX) return;
  const isInner = (isObject(a) && isObject(b)) || (Array.isArray(a) && Array.isArray(b));
  if (!isInner || depth >= DEPTH_MAX) {
    found.set(pointer, { ...(a !== undefined && { a }), ...(b !== undefined && { b }) });
    return;
  }
  const [left, right] = [Object.entries(a), Object.entries(b)];
  const [ours, theirs] = [new Map<string, Json>(left), new Map<string, Json>(right)];
  for (const key of new Set([...ours.keys(), ...theirs.keys()]))
    collect(found, `${pointer}/${escaped(key)}`, ours.get(key), theirs.get(key), depth + 1);
}

/** RFC 6901. */
const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
