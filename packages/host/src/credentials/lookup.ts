/** Resolves a ref to the current value for an owner. */
import { type ErrorCode, OpenwopError, type Owner } from '@gantry/protocol';
import type { RunReads } from '@gantry/store';
import type { ScopesOf } from '../principals.ts';
import { fromStoredFacts } from '../runtime/run-record.ts';
import {
  accessOf,
  type CredentialRecord,
  type CredentialVersion,
  parseRef,
  type StoredCredential,
  versionOf,
} from './credential.ts';

export interface Lookup {
  readonly owner: Owner;
  /** `stripe`, or `stripe@2` for its second value. */
  readonly ref: string;
  /** For credentials of one run and its descendants. */
  readonly runId?: string | undefined;
}

/** A credential that the caller may use now, with the selected version. */
export interface Found {
  readonly stored: StoredCredential;
  readonly version: CredentialVersion;
  readonly isExpired: boolean;
}

/** `abandoned`: it is for one person, whose keys have ended. `ended`: the version was replaced, or never existed. */
export type Missed = { readonly not: 'missing' | 'forbidden' | 'abandoned' | 'revoked' | 'ended' };

export type RunLines = Pick<RunReads, 'row'>;

/** A run, then its parent, up to the root. */
export async function lineOf(runs: RunLines, tenant: string, runId: string): Promise<string[]> {
  const line: string[] = [];
  for (let next: string | undefined = runId; next !== undefined; ) {
    line.push(next);
    const row = await runs.row(tenant, next);
    next = row ? fromStoredFacts(row).parent?.runId : undefined;
  }
  return line;
}

export interface Reading {
  /** Returns the record with this id in the tenant of the owner. */
  readonly read: (id: string) => Promise<StoredCredential | null>;
  readonly runs: RunLines;
  readonly scopesOf: ScopesOf;
  readonly now: number;
}

export async function found(
  { read, runs, scopesOf, now }: Reading,
  { owner, ref: text, runId }: Lookup,
): Promise<Found | Missed> {
  const { ref, version: wanted } = parseRef(text);
  const stored = await read(ref);
  if (!stored) return { not: 'missing' };
  const isOfRun = stored.record.scope === 'run' && runId !== undefined;
  const line = isOfRun ? await lineOf(runs, owner.tenant, runId) : undefined;
  if (!accessOf(owner, stored.record, line)) return { not: 'forbidden' };
  if (stored.record.revokedAt !== undefined) return { not: 'revoked' };
  if (await isAbandoned(scopesOf, owner, stored.record)) return { not: 'abandoned' };
  const version = versionOf(stored.record, wanted, now);
  if (!version) return { not: 'ended' };
  const { expiresAt = Number.POSITIVE_INFINITY } = version;
  return { stored, version, isExpired: expiresAt <= now };
}

/**
 * Whether a key of those whom the credential is for has ended: of its owner, and of the owner of the run. Checked at
 * each use, since runs go on after the key that started them. Credentials of a workspace or tenant are for everybody.
 */
async function isAbandoned(
  scopesOf: ScopesOf,
  { tenant, principal: user }: Owner,
  { scope, owner }: CredentialRecord,
): Promise<boolean> {
  if (scope !== 'user' && scope !== 'run') return false;
  const people = new Set([owner.principal, user].filter((each) => each !== null));
  for (const each of people) if ((await scopesOf(tenant, each)) === null) return true;
  return false;
}

/** The error of a credential that may not be used now, with the code of the caller for it. */
export const missed = (codes: Readonly<Record<Missed['not'], ErrorCode>>, { not }: Missed): OpenwopError =>
  new OpenwopError(codes[not], not === 'abandoned' ? { message: ABANDONED } : {});

export const ABANDONED =
  'The credential is for one principal, and every key of that principal has expired or was revoked. Start the run with a valid key, or use a credential of the workspace.';
