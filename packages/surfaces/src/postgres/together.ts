/**
 * Writes of a tenant to an area that share transactions: calls that arrive during a transaction join the next one.
 *
 * I1  One transaction at a time writes an area of a tenant, in any process: data that it has read stays valid
 *     until its commit.
 * I2  A turn is two round trips, however many calls share it: lock and read, decide in memory, write.
 * I3  A refused call fails alone, before any write. A call that must be attempted to know whether it fits gets
 *     its own turn (`Alone`). So does each call of a turn that the server refused because of the input of one of them.
 * I4  A call acts once per invocation. A record that appears meanwhile rolls back the turn, which is then repeated.
 *
 * Measured: kv put, 16 callers, two shared cores: 3,000 to 4,200/s, with a transaction for each call 500 to 980/s.
 */
import { setImmediate } from 'node:timers/promises';
import type { Sql, Statement, Tx } from '@gantry/postgres';
import { OpenwopError } from '@gantry/protocol';
import { codeOf } from '../backend-errors.ts';
import { recordedAnswer } from '../calls/call-journal.ts';
import { recordText } from '../calls/sealed-answer.ts';
import type { NumberedCall, PortRead, PortWrite } from '../calls/surface-call.ts';
import { Refusal } from '../refusal.ts';
import { isTransient, operation, untilWon } from './errors.ts';
import { takeTurn } from './usage.ts';

export interface Act<State> {
  /** The approximate size of its data. */
  readonly bytes: number;
  /** Throws `Refusal`, `OpenwopError` or `Alone` before it changes anything. May be called again. */
  decide(state: State, tx: Tx): unknown;
}

export interface Area<State, A extends Act<State>> {
  readonly name: string;
  /** Sent with BEGIN: only reads and locks. */
  load(tx: Tx, tenant: string, acts: readonly A[]): Promise<State>;
  /** Runs statements whose results are needed before the commit; answers those to send with the commit. */
  write(tx: Tx, tenant: string, state: State, acts: readonly A[]): Promise<readonly Statement[]>;
}

/** A journaled call, or an action of the host. */
export type Caller = PortWrite | PortRead;

export type Perform<State, A extends Act<State>> = <T extends object | null>(
  sql: Sql,
  caller: Caller,
  act: A & { decide(state: State, tx: Tx): T | Promise<T> },
) => Promise<T>;

/** Thrown by an act that has to be attempted in its own turn. */
export class Alone extends Error {}

interface Waiting<A> extends Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'> {
  readonly sql: Sql;
  readonly invocation: NumberedCall | null;
  readonly now: number;
  readonly act: A;
  readonly isAlone: boolean;
}

/** Limits of a turn; the first waiting call is always served. */
const CALLS_MAX = 128;
const BYTES_MAX = 4_194_304;

export function together<State, A extends Act<State>>(area: Area<State, A>): Perform<State, A> {
  const lines = new Map<string, Waiting<A>[]>();
  const serve = async (tenant: string, line: Waiting<A>[]): Promise<void> => {
    do {
      // Lets calls of the same event loop iteration join
      await setImmediate();
      line.unshift(...(await serveTurn(area, tenant, takeBatch(line))));
    } while (line.length > 0);
    lines.delete(tenant);
  };
  return <T extends object | null>(sql: Sql, caller: Caller, act: A) => {
    const { promise, ...settling } = Promise.withResolvers<unknown>();
    const invocation = 'invocation' in caller ? caller.invocation : null;
    const waiting = { sql, invocation, now: caller.now, act, isAlone: false, ...settling };
    const line = lines.get(caller.tenant);
    if (line) line.push(waiting);
    else {
      const opened = [waiting];
      lines.set(caller.tenant, opened);
      void serve(caller.tenant, opened);
    }
    return promise as Promise<T>;
  };
}

function takeBatch<A extends { readonly bytes: number }>(line: Waiting<A>[]): Waiting<A>[] {
  let bytes = 0;
  const end = line.findIndex(({ isAlone, act }, index) => {
    bytes += act.bytes;
    return index > 0 && (isAlone || line[0]!.isAlone || bytes > BYTES_MAX || index === CALLS_MAX);
  });
  return line.splice(0, end === -1 ? line.length : end);
}

/** Answers the calls that need their own turn. */
async function serveTurn<State, A extends Act<State>>(
  area: Area<State, A>,
  tenant: string,
  batch: readonly Waiting<A>[],
): Promise<Waiting<A>[]> {
  const again: Waiting<A>[] = [];
  const repeat = (waiting: Waiting<A>): unknown => again.push({ ...waiting, isAlone: true });
  try {
    const outcomes = await operation(
      untilWon(() => batch[0]!.sql.exchange((tx) => takeTurns(tx, area, tenant, batch)), isLostRace),
    );
    for (const [index, outcome] of outcomes.entries()) {
      const waiting = batch[index]!;
      if (outcome.kind === 'alone') repeat(waiting);
      else if (outcome.kind === 'refused') waiting.reject(outcome.error);
      else waiting.resolve(outcome.answer);
    }
  } catch (error) {
    const isOfOne = batch.length > 1 && OF_ONE.includes(codeOf(error)?.slice(0, 2) ?? '');
    for (const waiting of batch) isOfOne ? repeat(waiting) : waiting.reject(error);
  }
  return again;
}

/** Classes of SQLSTATE: invalid or too large input. */
const OF_ONE = ['21', '22', '23', '54'];
const UNIQUE_VIOLATION = '23505';

const isLostRace = (error: unknown): boolean => isTransient(error) || codeOf(error) === UNIQUE_VIOLATION;

type Outcome =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'refused'; readonly error: unknown }
  | { readonly kind: 'alone' };

/** See I2. */
async function takeTurns<State, A extends Act<State>>(
  tx: Tx,
  area: Area<State, A>,
  tenant: string,
  batch: readonly Waiting<A>[],
): Promise<{ answer: Outcome[]; last: readonly Statement[] }> {
  const acts = batch.map(({ act }) => act);
  const [, records, state] = await Promise.all([
    takeTurn(tx, area.name, tenant),
    loadRecords(tx, tenant, batch),
    area.load(tx, tenant, acts),
  ]);
  const answer: Outcome[] = [];
  for (const waiting of batch) answer.push(await outcomeOf(tx, state, records, waiting));
  const last = await area.write(tx, tenant, state, acts);
  return { answer, last: [...last, ...keepRecords(tx, tenant, records)] };
}

async function outcomeOf<State, A extends Act<State>>(
  tx: Tx,
  state: State,
  records: Records,
  { invocation, now, act }: Waiting<A>,
): Promise<Outcome> {
  try {
    const before = invocation && records.get(invocation.journalKey);
    if (before) return { kind: 'answered', answer: recordedAnswer(invocation, before) };
    const answer = await act.decide(state, tx);
    if (invocation) {
      const { journalKey, method, fingerprint } = invocation;
      records.set(journalKey, {
        journalKey,
        method,
        fingerprint,
        answer: recordText(invocation, answer),
        now,
      });
    }
    return { kind: 'answered', answer };
  } catch (error) {
    if (error instanceof Alone) return { kind: 'alone' };
    if (error instanceof Refusal || error instanceof OpenwopError) return { kind: 'refused', error };
    throw error;
  }
}

interface CallRecord {
  readonly journalKey: string;
  readonly method: string;
  readonly fingerprint: string;
  readonly answer: string;
  /** The time of recording in this turn; null for records that existed. */
  readonly now: number | null;
}

type Records = Map<string, CallRecord>;

async function loadRecords(
  tx: Tx,
  tenant: string,
  batch: readonly { readonly invocation: NumberedCall | null }[],
): Promise<Records> {
  const journalKeys = batch.flatMap(({ invocation }) => invocation?.journalKey ?? []);
  if (journalKeys.length === 0) return new Map();
  const found = await tx<CallRecord[]>`
    select journal_key as "journalKey", method, fingerprint, answer, null::bigint as now from invocations
    where tenant = ${tenant} and journal_key = any (${journalKeys}::text[])
  `;
  return new Map(found.map((record) => [record.journalKey, record]));
}

/** Sorted, so that turns of two areas cannot deadlock (I4). */
function keepRecords(tx: Tx, tenant: string, records: Records): Statement[] {
  const fresh = [...records.values()].filter(({ now }) => now !== null);
  if (fresh.length === 0) return [];
  return [
    tx`
      insert into invocations (tenant, journal_key, method, fingerprint, answer, recorded_at)
      select ${tenant}, *
      from unnest(${column(fresh, 'journalKey')}::text[], ${column(fresh, 'method')}::text[],
        ${column(fresh, 'fingerprint')}::text[], ${column(fresh, 'answer')}::text[], ${column(fresh, 'now')}::bigint[])
        as fresh (journal_key, method, fingerprint, answer, recorded_at)
      order by journal_key
    `,
  ];
}

/** A column of rows as an array, for `unnest`. */
export const column = <R, K extends keyof R>(rows: readonly R[], name: K): R[K][] =>
  rows.map((row) => row[name]);
