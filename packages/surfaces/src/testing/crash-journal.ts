/** What the host's invocation log does, in a file: claims and records of calls that outlive the process. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { OpenwopError } from '@gantry/protocol';
import type { CallJournal, CallRecord, JournaledCall, ReadsKey, SeenRead } from '../calls/call-journal.ts';

/** Without a record: claimed. */
interface Line {
  readonly key: string;
  readonly record?: CallRecord;
  readonly reads?: readonly SeenRead[];
}

export const keyOf = ({
  tenant,
  runId,
  nodeId,
  ordinal,
  providerKey,
}: Parameters<CallJournal['isKnown']>[0]): string =>
  JSON.stringify([tenant, runId, nodeId, ordinal, providerKey]);

export class CrashJournal implements CallJournal {
  readonly #lines = new Map<string, Line>();
  readonly #file: number;

  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    // What follows the last end of a line was under way when the process died, so nobody was told of it
    for (const line of text.split('\n').slice(0, -1)) this.#keep(JSON.parse(line));
    this.#file = openSync(path, 'a');
    if (text !== '' && !text.endsWith('\n')) writeSync(this.#file, '\n');
  }

  async perform(call: JournaledCall, act: () => Promise<CallRecord>): Promise<CallRecord> {
    const key = keyOf(call);
    const before = this.#lines.get(key);
    if (before?.record) return before.record;
    if (before && !call.idempotent) throw new OpenwopError('effect_in_doubt');
    if (!before) this.#write({ key });
    const record = await act();
    this.#write({ key, record });
    return record;
  }

  async isKnown(call: Parameters<CallJournal['isKnown']>[0]): Promise<boolean> {
    return this.#lines.has(keyOf(call));
  }

  async recall(key: ReadsKey): Promise<readonly SeenRead[] | null> {
    return this.#lines.get(JSON.stringify(key))?.reads ?? null;
  }

  async keep(position: ReadsKey, reads: readonly SeenRead[]): Promise<boolean> {
    const key = JSON.stringify(position);
    if (this.#lines.has(key)) return false;
    this.#write({ key, reads });
    return true;
  }

  close(): void {
    closeSync(this.#file);
  }

  #write(line: Line): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
    fsyncSync(this.#file);
    this.#keep(line);
  }

  #keep(line: Line): void {
    this.#lines.set(line.key, line);
  }
}
