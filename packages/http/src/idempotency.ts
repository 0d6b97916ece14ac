/**
 * The first layer of idempotency: a mutating request repeated with the same `Idempotency-Key` gets the first
 * response.
 *
 * I1  The record is written in the commit of the effect, so an effect exists if and only if its record does.
 * I2  Within this process, one request at a time runs for a key; others wait for it.
 * I3  Between processes, the commit decides: the loser reads the record of the winner.
 */

import { hash } from 'node:crypto';
import { errorEnvelope, invalid, isKeptRefusal, OpenwopError } from '@gantry/protocol';
import type { IdempotencyRecord, Store } from '@gantry/store';
import canonicalize from 'canonicalize';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from './context.ts';
import { JSON_TYPE } from './reply.ts';

const KEY_LENGTH_MAX = 255;
export const RETENTION_SECONDS = 86_400;
const IN_FLIGHT_MAX = 10_000;
const IN_FLIGHT_RETRY_SECONDS = 1;
/** A record can expire between losing to it and reading it, but not several times in a row. */
const ATTEMPTS_MAX = 3;

/** A response, and whether its record is already in the commit of its effect. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly recorded: boolean;
}

export type RecordAnswer = (status: number, body: string) => IdempotencyRecord;

/**
 * Executes the request. If `record` is given, the record of the response is part of the commit; `duplicate` means
 * that it lost.
 */
export type Work = (record: RecordAnswer | undefined) => Promise<Answer | 'duplicate'>;

export interface Claim {
  readonly tenant: string;
  readonly operation: string;
  readonly key: string;
  readonly digest: string;
}

function readKey(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && key.length > 0 && key.length <= KEY_LENGTH_MAX) return key;
  throw invalid(`Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters.`, {
    header: 'Idempotency-Key',
    maxLength: KEY_LENGTH_MAX,
  });
}

type Digest = (text: string) => string;

const sha256: Digest = (text) => hash('sha256', text, 'hex');

/** A missing body and an empty one are the same request. */
const digestOf = (body: unknown, digest = sha256): string => digest(canonicalize(body ?? {}) ?? '');

/** A failure to record: the same request can only fail in the same way. */
function keptFailure(error: unknown): { status: number; body: string } | null {
  if (!(error instanceof OpenwopError) || !isKeptRefusal(error)) return null;
  if (error.code === 'idempotency_key_mismatch') return null;
  return { status: error.status, body: JSON.stringify(errorEnvelope(error)) };
}

const inFlightRefusal = (): OpenwopError =>
  new OpenwopError('idempotency_in_flight', {
    details: { retryAfter: IN_FLIGHT_RETRY_SECONDS },
    headers: { 'retry-after': String(IN_FLIGHT_RETRY_SECONDS) },
  });

export class Idempotency {
  readonly #store: Pick<Store, 'records' | 'commit'>;
  readonly #now: () => number;
  readonly #inFlight = new Map<string, Promise<unknown>>();

  constructor(store: Pick<Store, 'records' | 'commit'>, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Executes the request or replays its earlier response, and sets status and headers of the reply. */
  async answer(request: FastifyRequest, reply: FastifyReply, operation: string, work: Work): Promise<string> {
    const key = readKey(request);
    const { tenant } = callerOf(request);
    const claim = key === null ? null : { tenant, operation, key, digest: digestOf(request.body) };
    const answer = claim
      ? await this.#inTurn(claim, () => this.#once(claim, work, reply))
      : await work(undefined);
    if (answer === 'duplicate') throw new Error('only a request with a key can be a duplicate');
    void reply.code(answer.status).type(JSON_TYPE);
    return answer.body;
  }

  /**
   * For work that writes the record of its own response or refusal, and answers a repeat from it. `keyed`: for
   * bodies with secrets, which could be guessed from a plain hash in the record.
   */
  async once<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (record?: Claim & Pick<IdempotencyRecord, 'expiresAt'>) => Promise<T>,
    keyed?: Digest,
  ): Promise<T> {
    const key = readKey(request);
    if (key === null) return work();
    const operation = `${request.method} ${request.url.split('?', 1)[0]}`;
    const digest = digestOf(request.body, keyed);
    const claim = { tenant: callerOf(request).tenant, operation, key, digest };
    return this.#inTurn(claim, async () => {
      if (await this.#stored(claim)) void reply.header('openwop-Idempotent-Replay', 'true');
      return work({ ...claim, expiresAt: this.#now() + RETENTION_SECONDS * 1000 });
    });
  }

  /** I2. */
  async #inTurn<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
    const id = `${claim.tenant}\n${claim.operation}\n${claim.key}`;
    for (let before = this.#inFlight.get(id); before !== undefined; before = this.#inFlight.get(id)) {
      await before.catch(() => undefined);
    }
    if (this.#inFlight.size >= IN_FLIGHT_MAX) throw inFlightRefusal();
    const turn = work();
    this.#inFlight.set(id, turn);
    try {
      return await turn;
    } finally {
      this.#inFlight.delete(id);
    }
  }

  /** I3. */
  async #once(claim: Claim, work: Work, reply: FastifyReply): Promise<Answer> {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
      const record = await this.#stored(claim);
      if (record !== null) {
        void reply.header('openwop-Idempotent-Replay', 'true');
        return { status: record.status, body: record.body, recorded: true };
      }
      const answer = await this.#attempt(claim, work);
      if (answer !== 'duplicate') return answer;
    }
    throw new Error('an idempotency record was lost to but could not be read');
  }

  async #stored({ tenant, operation, key, digest }: Claim): Promise<IdempotencyRecord | null> {
    const record = await this.#store.records.idempotency(tenant, operation, key);
    if (record === null || record.expiresAt <= this.#now()) return null;
    if (record.digest !== digest) throw new OpenwopError('idempotency_key_mismatch');
    return record;
  }

  async #attempt(claim: Claim, work: Work): Promise<Answer | 'duplicate'> {
    const expiresAt = this.#now() + RETENTION_SECONDS * 1000;
    const record: RecordAnswer = (status, body) => ({ ...claim, status, body, expiresAt });
    try {
      const answer = await work(record);
      if (answer === 'duplicate' || answer.recorded) return answer;
      return (await this.#keep(record(answer.status, answer.body))) ? answer : 'duplicate';
    } catch (error) {
      const kept = keptFailure(error);
      if (kept !== null && !(await this.#keep(record(kept.status, kept.body)))) return 'duplicate';
      throw error;
    }
  }

  /** Writes a record without another commit. False if another request was first. */
  async #keep(record: IdempotencyRecord): Promise<boolean> {
    const [result] = await this.#store.commit([[{ kind: 'idempotency', record, now: this.#now() }]]);
    return result?.won !== false;
  }
}
