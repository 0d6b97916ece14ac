/**
 * Passes values to pack code.
 *
 * R1  The act and the mark of the credential are committed before the value leaves the host.
 * R2  A value that could not be redacted later is not passed.
 * R3  Each call reads the credential again; nothing of the answer is kept.
 */

import { type ActType, CREDENTIAL_LIMITS, OpenwopError, type Owner } from '@gantry/protocol';
import type { Change, RecordKind } from '@gantry/resources';
import { systemCaller } from '@gantry/resources';
import type { Parts } from '../parts.ts';
import type { ScopesOf } from '../principals.ts';
import type { GivenSecrets } from '../redaction/given-secrets.ts';
import { acts } from './act.ts';
import { credentials, newest, type StoredCredential, secretParts } from './credential.ts';
import { type Found, found, type Lookup, missed, type RunLines } from './lookup.ts';

/** The purpose, and the code that receives the value. */
export interface Revealing {
  readonly type: ActType;
  readonly purpose: string;
  readonly runId: string;
  readonly nodeId: string;
  readonly pack: { readonly name: string; readonly version: string };
}

export interface Revealed {
  readonly credential: StoredCredential;
  readonly value: string;
  readonly expiresAt?: number;
  /** Time at which the newest value was stored; not set before the first rotation. */
  readonly rotatedAt?: number;
}

export interface RevealOptions extends Pick<Parts, 'changes' | 'now'> {
  readonly given: Pick<GivenSecrets, 'give'>;
  readonly readValue: (found: Found) => Promise<string>;
  readonly scopesOf: ScopesOf;
  readonly store: { readonly runs: RunLines };
}

/** The number of values that a run received since. */
interface Given {
  readonly runId: string;
  readonly since: number;
  readonly count: number;
}

export const secretsGiven: RecordKind<Given> = {
  kind: 'secrets-given',
  idPrefix: 'sg',
  endsWithRun: ({ runId }) => runId,
};
const WINDOW_MS = 60_000;
const { revealedPerMinuteMax: GIVEN_MAX } = CREDENTIAL_LIMITS;

export function createReveal({
  changes,
  given: givenSecrets,
  readValue,
  scopesOf,
  store,
  now,
}: RevealOptions) {
  return (owner: Owner, ref: string, use: Revealing): Promise<Revealed> => {
    const caller = systemCaller(`${use.runId}/${use.nodeId}`, owner);
    return changes.run(caller, async (change) => {
      const read = (id: string) => change.find(credentials, id);
      const lookup: Lookup = { owner, ref, runId: use.runId };
      const one = mustBe(await found({ read, runs: store.runs, scopesOf, now: now() }, lookup));
      const value = await readValue(one);
      const { stored, version } = one;
      // R2
      const [whole, ...parts] = secretParts(stored.record.kind, value);
      const giving = { label: stored.id, version: version.version, runId: use.runId };
      if (!(await givenSecrets.give(change, { ...giving, value: whole }))) throw notRedactable();
      for (const part of parts) await givenSecrets.give(change, { ...giving, value: part });
      await count(change, use.runId);
      if (stored.record.revealedAt === undefined) change.update(stored, { revealedAt: change.now });
      const { pack, ...about } = use;
      const given = {
        packName: pack.name,
        packVersion: pack.version,
        ref: `${stored.id}@${version.version}`,
      };
      change.create(acts, { ...about, ...given });
      const rotated = newest(stored.record);
      return {
        credential: stored,
        value,
        ...(version.expiresAt !== undefined && { expiresAt: version.expiresAt }),
        ...(rotated.version > 1 && { rotatedAt: rotated.createdAt }),
      };
    });
  };
}

async function count(change: Change, runId: string): Promise<void> {
  const before = await change.find(secretsGiven, runId);
  if (!before) return void change.create(secretsGiven, { runId, since: change.now, count: 1 }, runId);
  const { since, count: given } = before.record;
  if (since + WINDOW_MS <= change.now) change.update(before, { since: change.now, count: 1 });
  else if (given < GIVEN_MAX) change.update(before, { count: given + 1 });
  else throw new OpenwopError('secret_quota_exhausted', { details: { limit: GIVEN_MAX } });
}

const CODES = {
  missing: 'secret_not_found',
  forbidden: 'secret_access_denied',
  abandoned: 'secret_access_denied',
  revoked: 'secret_revoked',
  ended: 'secret_not_found',
} as const;

function mustBe(result: Awaited<ReturnType<typeof found>>): Found {
  if ('not' in result) throw missed(CODES, result);
  if (result.isExpired) throw new OpenwopError('secret_expired');
  return result;
}

const notRedactable = (): OpenwopError =>
  new OpenwopError('secret_access_denied', {
    message: `A value that cannot be redacted is not given to pack code. Use one of ${CREDENTIAL_LIMITS.redactableMin} characters or more, or have the host send it: safeFetch(url, { credential: { ref } }).`,
  });
