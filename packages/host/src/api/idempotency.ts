/**
 * Layer 1: a mutating request repeated with the same `Idempotency-Key` gets the first answer.
 *
 * I1  The record is written in the commit of the effect, so there is an effect exactly when there is a record.
 * I2  Inside this process the same key is worked on by one request at a time; the others wait for it.
 * I3  Between processes the commit decides: who loses reads the winner's record.
 */

import { hash } from 'node:crypto';
import { ERRORS, errorEnvelope, OpenwopError } from '@gantry/protocol';
import type { IdempotencyRecord, Store } from '@gantry/store';
import canonicalize from 'canonicalize';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './context.ts';
import { JSON_TYPE } from './reply.ts';

const KEY_LENGTH_MAX = 255;
export const RETENTION_SECONDS = 86_400;
const IN_FLIGHT_MAX = 10_000;
const IN_FLIGHT_RETRY_SECONDS = 1;
/** A record can expire between losing to it and reading it; more than once in a row it cannot. */
const ATTEMPTS_MAX = 3;
const NEVER_STORED: ReadonlySet<number> = new Set([400, 401, 403]);

/** An answer, and whether its record is already in the commit of its effect. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly recorded: boolean;
}

export type RecordAnswer = (status: number, body: string) => IdempotencyRecord;

/** Does the work. Given `record`, the answer's record goes into the commit; `duplicate` says that lost. */
export type Work = (record: RecordAnswer | undefined) => Promise<Answer | 'duplicate'>;

interface Claim {
  readonly tenant: string;
  readonly operation: string;
  readonly key: string;
  readonly digest: string;
}

export interface Idempotency {
  /** Runs `work`, or replays what it answered before, and sets status and headers of the reply. */
  answer(request: FastifyRequest, reply: FastifyReply, operation: string, work: Work): Promise<string>;
}

function readKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length > 0 && key.length <= KEY_LENGTH_MAX) return key;
  throw new OpenwopError('validation_error', {
    message: `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters.`,
    details: { header: 'Idempotency-Key', maxLength: KEY_LENGTH_MAX },
  });
}

/** No body and an empty one ask for the same. */
const digestOf = (body: unknown): string => hash('sha256', canonicalize(body ?? {}) ?? '', 'hex');

/** A failure worth keeping: the same request can only fail the same way. */
function keptFailure(error: unknown): Answer | null {
  if (!(error instanceof OpenwopError)) return null;
  const { status, code } = error;
  if (status >= 500 || NEVER_STORED.has(status) || ERRORS[code].retriable) return null;
  if (code === 'idempotency_key_mismatch') return null;
  return { status, body: JSON.stringify(errorEnvelope(error)), recorded: false };
}

export function createIdempotency(store: Pick<Store, 'records' | 'commit'>, now: () => number): Idempotency {
  const inFlight = new Map<string, Promise<unknown>>();

  async function stored({ tenant, operation, key, digest }: Claim): Promise<IdempotencyRecord | null> {
    const record = await store.records.idempotency(tenant, operation, key);
    if (record === null || record.expiresAt <= now()) return null;
    if (record.digest !== digest) throw new OpenwopError('idempotency_key_mismatch');
    return record;
  }

  async function attempt(claim: Claim, work: Work): Promise<Answer | 'duplicate'> {
    const record: RecordAnswer = (status, body) => ({
      ...claim,
      status,
      body,
      expiresAt: now() + RETENTION_SECONDS * 1000,
    });
    let answer: Answer | 'duplicate';
    let failure: unknown;
    try {
      answer = await work(record);
    } catch (error) {
      const kept = keptFailure(error);
      if (kept === null) throw error;
      failure = error;
      answer = kept;
    }
    if (answer !== 'duplicate' && !answer.recorded) {
      const [result] = await store.commit([
        [{ kind: 'idempotency', record: record(answer.status, answer.body), now: now() }],
      ]);
      if (result?.won === false) return 'duplicate';
    }
    // Thrown rather than answered: the error brings its headers.
    if (failure !== undefined) throw failure;
    return answer;
  }

  async function once(claim: Claim, work: Work, reply: FastifyReply): Promise<Answer> {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const record = await stored(claim);
      if (record !== null) {
        void reply.header('openwop-Idempotent-Replay', 'true');
        return { status: record.status, body: record.body, recorded: true };
      }
      const answer = await attempt(claim, work);
      if (answer !== 'duplicate') return answer;
    }
    throw new Error('an idempotency record was lost to but could not be read');
  }

  /** I2. */
  async function inTurn(claim: Claim, work: Work, reply: FastifyReply): Promise<Answer> {
    const id = `${claim.tenant}\n${claim.operation}\n${claim.key}`;
    for (let before = inFlight.get(id); before !== undefined; before = inFlight.get(id)) {
      await before.catch(() => undefined);
    }
    if (inFlight.size >= IN_FLIGHT_MAX) {
      throw new OpenwopError('idempotency_in_flight', {
        details: { retryAfter: IN_FLIGHT_RETRY_SECONDS },
        headers: { 'retry-after': String(IN_FLIGHT_RETRY_SECONDS) },
      });
    }
    const turn = once(claim, work, reply);
    inFlight.set(id, turn);
    try {
      return await turn;
    } finally {
      inFlight.delete(id);
    }
  }

  return {
    async answer(request, reply, operation, work) {
      const key = readKey(request);
      const { tenant } = callerOf(request);
      const answer =
        key === null
          ? await work(undefined)
          : await inTurn({ tenant, operation, key, digest: digestOf(request.body) }, work, reply);
      if (answer === 'duplicate') throw new Error('only a request with a key can be a duplicate');
      void reply.code(answer.status).type(JSON_TYPE);
      return answer.body;
    },
  };
}
