/** Operations on credentials. They accept values, and never return one. */
import { isAudience } from '@gantry/egress';
import {
  CREDENTIAL_LIMITS,
  type CreateCredentialRequest,
  type CredentialKind,
  type CredentialShare,
  credentialsWire,
  invalid,
  OpenwopError,
  type RotateCredentialRequest,
} from '@gantry/protocol';
import { type Caller, resource } from '@gantry/resources';
import type { Store } from '@gantry/store';
import type { Redactions } from '../redaction/redactions.ts';
import {
  accessOf,
  type CredentialRecord,
  type CredentialVersion,
  contextOf,
  credentials,
  isLive,
  newest,
  readersOf,
  type StoredCredential,
  secretParts,
  shareOf,
  viewOf,
  withVersion,
} from './credential.ts';
import { storedValue, type ValueOptions } from './external-stores.ts';

const { perRunMax, versionsMax, sharesMax, overlapSecondsDefault, redactableMin, valueBytesMax } =
  CREDENTIAL_LIMITS;

const PLACES: Readonly<Record<CredentialKind, { header: string; prefix: string }>> = {
  api_key: { header: 'x-api-key', prefix: '' },
  bearer: { header: 'authorization', prefix: 'Bearer ' },
  basic: { header: 'authorization', prefix: 'Basic ' },
  oauth2: { header: 'authorization', prefix: 'Bearer ' },
};

export interface CredentialServices extends ValueOptions {
  readonly store: Pick<Store, 'entries' | 'runs'>;
  readonly redactions: Pick<Redactions, 'note'>;
  readonly now: () => number;
}

type Facts = Omit<CredentialRecord, 'versions'>;

const wrong = (message: string): OpenwopError => invalid(message);

export const credentialResource = resource<
  typeof credentialsWire,
  CredentialRecord,
  Facts,
  CredentialServices
>(credentialsWire, {
  ...credentials,
  secretBodies: true,
  access: {
    of: accessOf,
    readers: readersOf,
    forbidden: 'credential_forbidden',
  },
  idOf: ({ ref }) => ref,
  prepare: factsOf,
  create: (input, facts, { id, now, caller: { tenant }, services }) => {
    const first = newVersion(services, { tenant, id }, 1, { ...input, kind: facts.kind });
    return { ...facts, versions: [{ ...first, version: 1, createdAt: now }] };
  },
  verbs: {
    rotate: (_, input, { stored, now, services }) => rotated(services, stored, input, now),
    share: shared,
    unshare: unshared,
    revoke: (record, _, { now }) => ({ ...record, revokedAt: record.revokedAt ?? now }),
  },
  /** Looks up the value, so that a missing one is reported here before a run fails. */
  async show(stored, services) {
    const view = viewOf(stored, services.now());
    const isThere = async () =>
      (await storedValue(services, { stored, version: newest(stored.record) })) !== null;
    return view.state !== 'active' || (await isThere()) ? view : { ...view, state: 'unreadable' };
  },
});

async function factsOf(
  input: CreateCredentialRequest,
  { store }: CredentialServices,
  caller: Caller,
): Promise<Facts> {
  const { kind = 'api_key', provider, scope = 'tenant', runId, audiences = [] } = input;
  const unclear = audiences.find((audience) => !isAudience(audience));
  if (unclear !== undefined)
    throw wrong(
      `${JSON.stringify(unclear)} is not an audience. Use a lower-case host name, such as api.example.com, or *.example.com.`,
    );
  if ((scope === 'run') !== (runId !== undefined))
    throw wrong('runId is required for the scope run, and not allowed for any other.');
  if (runId !== undefined) await checkRun(store, caller.tenant, runId);
  const { workspace, principal } = caller;
  const { header = PLACES[kind].header, prefix = PLACES[kind].prefix } = input;
  return {
    kind,
    ...(provider !== undefined && { provider }),
    scope,
    owner: { workspace, principal },
    ...(runId !== undefined && { runId }),
    audiences: [...new Set(audiences)],
    header: header.toLowerCase(),
    prefix,
    sharedWith: [],
  };
}

async function checkRun(
  { runs, entries }: CredentialServices['store'],
  tenant: string,
  runId: string,
): Promise<void> {
  if (!(await runs.row(tenant, runId)))
    throw new OpenwopError('not_found', { message: 'There is no run with this runId.' });
  const index = { name: 'run', value: runId };
  if ((await entries.list(credentials.kind, tenant, { index, limit: perRunMax })).length === perRunMax)
    throw new OpenwopError('conflict', {
      message: `The run already has ${perRunMax} credentials, the maximum.`,
      details: { limit: perRunMax },
    });
}

function rotated(
  services: CredentialServices,
  stored: StoredCredential,
  input: RotateCredentialRequest,
  now: number,
): CredentialRecord {
  const { record } = stored;
  if (record.revokedAt !== undefined)
    throw new OpenwopError('conflict', {
      message: 'The credential was revoked. Remove it and add it again.',
    });
  const { overlapSeconds = overlapSecondsDefault } = input;
  const next = record.versions[0]!.version + 1;
  const added = newVersion(services, stored, next, { ...input, kind: record.kind });
  const rotated = withVersion(record, added, {
    now,
    overlapMs: overlapSeconds * 1_000,
  });
  if (rotated.versions.filter((each) => isLive(each, now)).length > versionsMax)
    throw new OpenwopError('conflict', {
      message: `${versionsMax} values are in use, the maximum. Wait until one expires, or use overlapSeconds 0.`,
      details: { limit: versionsMax },
    });
  return rotated;
}

function newVersion(
  { redactions, masterKey }: Pick<CredentialServices, 'redactions' | 'masterKey'>,
  of: Pick<StoredCredential, 'tenant' | 'id'>,
  version: number,
  given: Pick<CreateCredentialRequest, 'value' | 'source' | 'expiresAt'> & { kind: CredentialKind },
): Omit<CredentialVersion, 'version' | 'createdAt'> {
  const { value, source, expiresAt, kind } = given;
  const ends = expiresAt === undefined ? {} : { expiresAt: Date.parse(expiresAt) };
  if (source && value === undefined) return { material: source, ...ends };
  if (value === undefined || source) throw wrong('Give either value or source.');
  if (Buffer.byteLength(value) > valueBytesMax)
    throw wrong(`The value has more than ${valueBytesMax} bytes.`);
  for (const part of secretParts(kind, value)) redactions.note(of.tenant, part, of.id, version);
  const sealed = masterKey.seal(value, contextOf(of, version));
  return { material: { sealed }, ...ends, ...(value.length < redactableMin && { isShort: true }) };
}

function shared(record: CredentialRecord, given: CredentialShare): CredentialRecord {
  const { sharedWith } = unshared(record, given);
  if (sharedWith.length >= sharesMax)
    throw new OpenwopError('conflict', {
      message: `It is already shared ${sharesMax} times, the maximum. Remove a share with unshare.`,
      details: { limit: sharesMax },
    });
  return { ...record, sharedWith: [...sharedWith, shareOf(given)] };
}

function unshared(record: CredentialRecord, given: CredentialShare): CredentialRecord {
  const { workspace, principal } = shareOf(given);
  const sharedWith = record.sharedWith.filter(
    (each) => each.workspace !== workspace || each.principal !== principal,
  );
  return { ...record, sharedWith };
}
