/**
 * Commits records of nodes. Records that contain an opened secret are sealed, and their commit marks the secret as
 * given to their run. The marks are the last writes of a group, so the indices of its own writes stay the same.
 */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Redactor, SecretValue } from '@gantry/protocol/redaction';
import type { CommitGroup, CommitResult, Store, Write } from '@gantry/store';
import type { Received, Redactions } from './redactions.ts';

const TRIES_MAX = 100;

export interface JournalMarksOptions {
  readonly store: Pick<Store, 'commit' | 'records'>;
  readonly redactions: Pick<Redactions, 'of' | 'given'>;
  readonly seal: (tenant: string, invocationId: string, outcome: string) => string;
}

/** A write of a group that records an outcome. */
interface Recording {
  readonly at: number;
  readonly tenant: string;
  readonly invocationId: string;
  readonly outcome: string;
}

interface Held extends Recording {
  readonly secrets: ReadonlySet<SecretValue>;
}

export class JournalMarks {
  readonly #options: JournalMarksOptions;

  constructor(options: JournalMarksOptions) {
    this.#options = options;
  }

  async commit(groups: readonly CommitGroup[]): Promise<CommitResult[]> {
    const { store } = this.#options;
    const held = groups.map((group) => this.#heldIn(group));
    if (held.every(({ length }) => length === 0)) return store.commit(groups);
    const marked = groups.map((group, i) => (held[i]!.length === 0 ? group : this.#marked(group, held[i]!)));
    const results = await store.commit(await Promise.all(marked));
    // The secret was marked for another run meanwhile
    for (const [i, group] of groups.entries())
      for (let tries = 1; tries < TRIES_MAX && isLostMark(group, results[i]!); tries++)
        results[i] = (await store.commit([await this.#marked(group, held[i]!)]))[0]!;
    return results;
  }

  #heldIn(group: CommitGroup): Held[] {
    return group.flatMap((write, at) => {
      const recording = recordingOf(write, at);
      const redactor = recording && this.#options.redactions.of(recording.tenant);
      if (!redactor || redactor.isEmpty) return [];
      const secrets = foundIn(redactor, recording.outcome);
      return secrets.size === 0 ? [] : [{ ...recording, secrets }];
    });
  }

  async #marked(group: CommitGroup, held: readonly Held[]): Promise<CommitGroup> {
    const { redactions, seal } = this.#options;
    const writes = [...group];
    for (const [tenant, records] of Map.groupBy(held, (each) => each.tenant)) {
      const received = await Promise.all(records.map((record) => this.#received(group[record.at]!, record)));
      const marks = await redactions.given.marking(tenant, received.flat());
      for (const { at, invocationId, outcome } of records) {
        const kept = marks ? outcome : JSON.stringify(redacted(redactions.of(tenant), outcome));
        writes[at] = withOutcome(group[at]!, seal(tenant, invocationId, kept));
      }
      writes.push(...(marks ?? []));
    }
    return writes;
  }

  /** None if there is no claim: then the record is not written either. */
  async #received(write: Write, { tenant, invocationId, secrets }: Held): Promise<Received[]> {
    const { records } = this.#options.store;
    const { runId } =
      (write.kind === 'claimInvocation' ? write.record : await records.invocation(tenant, invocationId)) ??
      {};
    return runId === undefined ? [] : [{ runId, secrets }];
  }
}

const isLostMark = ({ length }: CommitGroup, result: CommitResult): boolean =>
  !result.won && result.write >= length;

function recordingOf(write: Write, at: number): Recording | undefined {
  if (write.kind === 'settleInvocation') return { ...write, at };
  if (write.kind !== 'claimInvocation') return undefined;
  const { outcome } = write.record;
  return outcome === null ? undefined : { ...write.record, outcome, at };
}

const withOutcome = (write: Write, outcome: string): Write =>
  write.kind === 'claimInvocation'
    ? { ...write, record: { ...write.record, outcome } }
    : { ...(write as Extract<Write, { kind: 'settleInvocation' }>), outcome };

const BYTES = '"bytes":{';

/** Strings of the record are searched as their readers get them, bytes with one character each. */
function foundIn(redactor: Redactor, outcome: string): ReadonlySet<SecretValue> {
  const asText = redactor.found(outcome);
  const isPlain = !outcome.includes('\\') && !outcome.includes(BYTES);
  return isPlain ? asText : new Set([...asText, ...redactor.found(mapBytes(outcome, textOf))]);
}

/** For a secret that cannot be marked. */
const redacted = (redactor: Redactor, outcome: string): Json =>
  redactor.redactJson(
    mapBytes(outcome, (base64) => Buffer.from(redactor.redact(textOf(base64)), 'latin1').toString('base64')),
  );

const textOf = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1');

/** The record, with each member of `bytes` of an answer (`CallAnswer`) replaced. */
function mapBytes(outcome: string, replace: (base64: string) => string): Json {
  const parsed: Json = JSON.parse(outcome);
  const record = memberOf(memberOf(parsed, 'outputs'), 'record');
  const bytes = memberOf(record, 'bytes');
  for (const [name, base64] of Object.entries(bytes)) bytes[name] = replace(String(base64));
  return parsed;
}

const memberOf = (of: Json, name: string): JsonObject => {
  const member = typeof of === 'object' && of !== null && !Array.isArray(of) ? of[name] : undefined;
  return typeof member === 'object' && member !== null && !Array.isArray(member) ? member : {};
};
