/**
 * Records what a node read before it wrote, so that a node that runs again decides on the same answers.
 *
 * I1  An answer that pack code saw before a write is recorded before that write happens.
 * I2  A node that runs again gets recorded answers by method and input, in order. After those, and for answers
 *     that were too large or hold bytes, it gets current ones.
 * I3  Storage is bounded. Reads without a write cost one lookup in the journal and store nothing.
 */
import { ERRORS, type Json, OpenwopError } from '@gantry/protocol';
import type { CallAnswer, CallJournal, ReadsKey, SeenRead } from './call-journal.ts';
import { isObject } from './data.ts';

/** Limits between two writes, and in one visit of the node: no quota counts them, and a repeat holds them in memory. */
const BATCH = { reads: 1_000, bytes: 256 * 1024 };
const VISIT = { reads: 10_000, bytes: 4 * 1024 * 1024 };

export class SeenReads {
  readonly #journal: CallJournal;
  readonly #key: Omit<ReadsKey, 'batch'>;
  #recorded: Promise<Map<string, SeenRead[]>> | null = null;
  #batches = 0;
  #seen: SeenRead[] = [];
  #room = BATCH.bytes;
  #left = { ...VISIT };
  #kept: Promise<void> | undefined;

  constructor(journal: CallJournal, key: Omit<ReadsKey, 'batch'>) {
    this.#journal = journal;
    this.#key = key;
  }

  /** Returns the recorded answer, else calls `act`. */
  async answer(fingerprint: string, act: () => unknown): Promise<unknown> {
    this.#recorded ??= this.#load();
    const before = (await this.#recorded).get(fingerprint)?.shift();
    if (before?.answer) return outcomeOf(before.answer);
    const see = (answer: CallAnswer | null): void => {
      if (!before) this.#see(fingerprint, answer);
    };
    try {
      const value = (await act()) ?? null;
      see({ ok: true, value: value as Json });
      return value;
    } catch (error) {
      see(failureOf(error));
      throw error;
    }
  }

  /** Called before a write awaits anything; the write then awaits the result. */
  keep(): Promise<void> | undefined {
    if (this.#seen.length > 0) {
      this.#kept = this.#write(this.#seen, this.#kept);
      this.#seen = [];
      this.#room = BATCH.bytes;
    }
    return this.#kept;
  }

  #see(fingerprint: string, answer: CallAnswer | null): void {
    if (this.#seen.length === BATCH.reads || this.#left.reads === 0) return;
    const room = Math.min(this.#room, this.#left.bytes);
    const bytes = answer === null ? 0 : weigh(answer, room);
    const isKept = bytes < room;
    this.#seen.push({ fingerprint, answer: isKept ? answer : null });
    if (isKept) this.#room -= bytes;
    this.#count(isKept ? bytes : 0);
  }

  #count(bytes: number): void {
    this.#left = { reads: this.#left.reads - 1, bytes: this.#left.bytes - bytes };
  }

  async #load(): Promise<Map<string, SeenRead[]>> {
    const recorded = new Map<string, SeenRead[]>();
    for (;;) {
      const reads = await this.#journal.recall({ ...this.#key, batch: this.#batches });
      if (reads === null) return recorded;
      this.#batches++;
      for (const read of reads) {
        this.#count(weigh(read.answer, VISIT.bytes));
        const alike = recorded.get(read.fingerprint);
        if (alike) alike.push(read);
        else recorded.set(read.fingerprint, [read]);
      }
    }
  }

  async #write(reads: readonly SeenRead[], before: Promise<void> | undefined): Promise<void> {
    await before;
    // A cancelled dispatch may already have used a key
    while (!(await this.#journal.keep({ ...this.#key, batch: this.#batches++ }, reads)));
  }
}

function outcomeOf(answer: CallAnswer): unknown {
  if (answer.ok) return answer.value;
  const { code, ...rest } = answer.error;
  throw new OpenwopError(code, rest);
}

/** Null for temporary failures: they are not recorded. */
function failureOf(error: unknown): CallAnswer | null {
  if (!(error instanceof OpenwopError) || ERRORS[error.code].retriable) return null;
  const { code, message, details } = error;
  return { ok: false, retriable: false, error: { code, message, ...(details && { details }) } };
}

/** The approximate size as JSON in bytes; infinite if not JSON. Stops at `max`. */
function weigh(value: unknown, max: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value === 'number') return Number.isFinite(value) ? 8 : Number.POSITIVE_INFINITY;
  if (value === null || value === undefined || typeof value === 'boolean') return 5;
  if (!Array.isArray(value) && !isObject(value)) return Number.POSITIVE_INFINITY;
  let bytes = 2;
  for (const [name, member] of Object.entries(value)) {
    bytes += name.length + weigh(member, max - bytes);
    if (bytes >= max) return bytes;
  }
  return bytes;
}
