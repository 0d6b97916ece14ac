/**
 * The notices that a commit sends to other processes: a few short texts. They are sent after the commit, since a
 * notice inside it would serialise commits on the whole server. They are hints: a lost, late or duplicate notice
 * only changes how soon others look.
 */
import { KEYS_CHANGED, type RunKey, type StoreChange, type Write } from '../port.ts';
import type { Sql } from './sql.ts';

export const CHANNEL = 'gantry_changes';

/** The server refuses payloads of 8000 bytes and more. */
const PAYLOAD_BYTES_MAX = 7_999;
const AGAIN_MS = 500;

export const LOOK_AT_EVERYTHING: StoreChange = { runs: [], kinds: [], missed: true };

/** One notification is in flight at a time. Commits meanwhile are gathered for the next. */
export class Announcer {
  readonly #sql: Sql;
  readonly #processId: string;
  #pending: Write[] = [];
  #hasMissed = false;
  #sending: Promise<void> | null = null;
  #again: NodeJS.Timeout | undefined;

  constructor(sql: Sql, processId: string) {
    this.#sql = sql;
    this.#processId = processId;
  }

  /** For writes that are committed, or may be. */
  announce(writes: readonly Write[]): void {
    this.#pending.push(...writes);
    this.#sending ??= this.#send();
  }

  /** Resolves when everything was sent or has failed. */
  async close(): Promise<void> {
    clearTimeout(this.#again);
    await this.#sending;
  }

  async #send(): Promise<void> {
    try {
      // Include all commits of this event loop turn
      await Promise.resolve();
      for (let notices = this.#take(); notices.length > 0; notices = this.#take())
        await this.#notify(notices);
    } catch {
      // Others may have missed changes: a notice of that follows as soon as one can be sent
      this.#hasMissed = true;
      this.#again = setTimeout(() => this.announce([]), AGAIN_MS).unref();
    } finally {
      this.#sending = null;
    }
  }

  #take(): string[] {
    const writes = this.#pending;
    this.#pending = [];
    if (!this.#hasMissed) return encodeNotices(this.#processId, changeOf(writes));
    this.#hasMissed = false;
    return [encode([this.#processId, 'missed'])];
  }

  /** Writes nothing, so it does not wait for the disk. */
  async #notify(notices: readonly string[]): Promise<void> {
    await this.#sql`
      select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, value)
      from json_array_elements_text(${JSON.stringify(notices)}::text::json) as notice (value)
    `;
  }
}

/** Lists each run and each kind once. */
function changeOf(writes: readonly Write[]): StoreChange {
  const runs = new Map<string, RunKey>();
  const kinds = new Set<string>();
  for (const write of writes) {
    if (write.kind === 'createRun' || write.kind === 'append') {
      const { tenant, runId } = write.kind === 'createRun' ? write.facts : write;
      if (write.events.length > 0) runs.set(runId, { tenant, runId });
    } else if (write.kind === 'putEntry') kinds.add(write.entry.kind);
    else if (write.kind === 'deleteEntry') kinds.add(write.key.kind);
    else if (write.kind === 'putKey') kinds.add(KEYS_CHANGED);
  }
  return { runs: [...runs.values()], kinds: [...kinds] };
}

/** On the wire, a run is `[tenant, runId]` and a kind is a string, in one list. */
type Item = string | readonly [tenant: string, runId: string];
type Notice = readonly [processId: string, items: readonly Item[] | 'missed'];

/** Encodes the change in as few notices as possible. If an item does not fit, the notice says to check everything. */
export function encodeNotices(processId: string, { runs, kinds }: StoreChange): string[] {
  const items: Item[] = [...runs.map(({ tenant, runId }) => [tenant, runId] as const), ...kinds];
  const notices: Item[][] = [];
  const empty = Buffer.byteLength(encode([processId, []]));
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + ','.length;
    if (empty + size > PAYLOAD_BYTES_MAX) return [encode([processId, 'missed'])];
    if (bytes + size > PAYLOAD_BYTES_MAX) {
      notices.push([]);
      bytes = empty;
    }
    notices.at(-1)?.push(item);
    bytes += size;
  }
  return notices.map((notice) => encode([processId, notice]));
}

/** Carries no change: a process sends it to itself. */
export const emptyNotice = (processId: string): string => encode([processId, []]);

const encode = (notice: Notice): string => JSON.stringify(notice);

/** Decodes a notice of another process; null for our own. An unknown (newer) format may mean any change. */
export function decodeNotice(payload: string, processId: string): StoreChange | null {
  const notice = parse(payload);
  if (!Array.isArray(notice)) return LOOK_AT_EVERYTHING;
  const [from, items] = notice;
  if (from === processId) return null;
  if (!Array.isArray(items) || !items.every(isItem)) return LOOK_AT_EVERYTHING;
  const runs = items.flatMap((item) =>
    typeof item === 'string' ? [] : [{ tenant: item[0], runId: item[1] }],
  );
  return { runs, kinds: items.filter((item) => typeof item === 'string') };
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return null;
  }
}

function isItem(value: unknown): value is Item {
  if (typeof value === 'string') return true;
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}
