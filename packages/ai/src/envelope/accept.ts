/**
 * Decides whether an envelope may enter a run. Pure. The order of the checks is that of the protocol: capability,
 * shape, kind, version and payload, contract, limits, redaction, trust, repetition.
 *
 * I1  No fault and no reason repeats a value of the envelope: it may contain a secret.
 * I2  An envelope that was checked before gets the same outcome again.
 */
import type { Json } from '@gantry/protocol';
import type { Redactor } from '@gantry/protocol/redaction';
import { type Check, type ContentTrust, type Envelope, type Fault, faultsOfEnvelope } from './document.ts';
import { CAP_KINDS, type CounterName, isUniversal, kindOf, UNIVERSAL_KINDS } from './kinds.ts';

export type Outcome =
  | {
      readonly status: 'accepted';
      readonly envelopeId: string;
      readonly recordedEventIds: readonly string[];
      readonly normalizedMeta: Envelope['meta'] & { readonly contentTrust: ContentTrust };
      readonly redactedPayload: Json;
      readonly redactionCount: number;
      /** The version is older than the host's own. */
      readonly drift?: true;
    }
  | { readonly status: 'gated'; readonly reason: string; readonly allowedKinds: readonly string[] }
  | { readonly status: 'invalid'; readonly reason: string; readonly details: readonly Fault[] }
  | {
      readonly status: 'breached';
      readonly reason: string;
      readonly capKind: (typeof CAP_KINDS)[CounterName];
      readonly limit: number;
      readonly observed: number;
    };

export interface Counter {
  readonly current: number;
  readonly cap: number;
}

export interface Prior {
  readonly envelopeType: string;
  readonly outcome: Outcome;
}

export interface Receiver {
  /** Whether the host supports envelopes. */
  readonly isSupported: boolean;
  /** Kinds besides the universal ones; absent: any. */
  readonly supported?: readonly string[];
  /** Kinds that the node accepts besides the universal ones; absent: any. */
  readonly accepts?: readonly string[];
  /** By kind, if the host knows one. */
  readonly versions: Readonly<Record<string, number>>;
  readonly strictness: 'warn' | 'strict';
  /** For kinds that the protocol does not define. */
  checkOf?(type: string): Check | undefined;
  readonly counters: Readonly<Partial<Record<CounterName, Counter>>>;
  readonly redactor: Redactor;
  /** The trust of the run, for an envelope that states none. */
  readonly trust: ContentTrust;
  /** The envelope answers a gate that only accepts trusted content. */
  readonly isApproval: boolean;
  priorOf(correlationId: string): Prior | undefined;
}

/** The prefix of the reason if nothing in an envelope can be relied on. */
export const BAD_SHAPE = 'invalid_envelope_shape';

export function accept(envelope: unknown, receiver: Receiver): Outcome {
  if (!receiver.isSupported) return invalid('capability_required');
  const faults = faultsOfEnvelope(envelope);
  if (faults[0]) return invalid(`${BAD_SHAPE}: ${faults[0].instancePath} ${faults[0].message}`, faults);
  const valid = envelope as Envelope;
  const prior = receiver.priorOf(valid.correlationId);
  return (
    kindGate(valid, receiver) ??
    versionGate(valid, receiver) ??
    payloadGate(valid, receiver) ??
    contractGate(valid, receiver) ??
    (prior ? null : limitGate(valid, receiver)) ??
    trustGate(valid, receiver) ??
    repeated(valid, prior) ??
    accepted(valid, receiver)
  );
}

const invalid = (reason: string, details: readonly Fault[] = []): Outcome => ({
  status: 'invalid',
  reason,
  details,
});

function gated(reason: string, kinds: readonly string[] = []): Outcome {
  const allowedKinds = [...new Set([...Object.keys(UNIVERSAL_KINDS), ...kinds])];
  return { status: 'gated', reason, allowedKinds };
}

function kindGate({ type }: Envelope, { supported }: Receiver): Outcome | null {
  if (isUniversal(type) || !supported || supported.includes(type)) return null;
  return gated('unknown_envelope_kind: this host does not serve the kind.', supported);
}

function contractGate({ type }: Envelope, { accepts }: Receiver): Outcome | null {
  if (isUniversal(type) || !accepts || accepts.includes(type)) return null;
  return gated('envelope_contract_violation: the node does not accept the kind.', accepts);
}

const isOlder = ({ type, schemaVersion = 0 }: Envelope, { versions }: Receiver): boolean =>
  Object.hasOwn(versions, type) && schemaVersion < versions[type]!;

function versionGate(envelope: Envelope, receiver: Receiver): Outcome | null {
  const { type, schemaVersion = 0 } = envelope;
  const { versions, strictness } = receiver;
  const isNewer = Object.hasOwn(versions, type) && schemaVersion > versions[type]!;
  if (!isNewer && !(strictness === 'strict' && isOlder(envelope, receiver))) return null;
  const message = `must be ${versions[type]}, the version of this host`;
  return invalid('unknown_schema_version', [{ instancePath: '/schemaVersion', message }]);
}

const CATALOG_PATH = '/catalogVersion';

function payloadGate({ type, payload }: Envelope, { checkOf }: Receiver): Outcome | null {
  const faults = (kindOf(type)?.check ?? checkOf?.(type))?.(payload) ?? [];
  if (faults.length === 0) return null;
  const isVersion = faults.some(({ instancePath }) => instancePath === CATALOG_PATH);
  return invalid(
    isVersion ? 'unknown_schema_version' : 'envelope_invalid',
    faults.map(({ instancePath, message }) => ({ instancePath: `/payload${instancePath}`, message })),
  );
}

function limitGate({ type }: Envelope, { counters }: Receiver): Outcome | null {
  const own = kindOf(type)?.counter;
  const names: readonly CounterName[] = own ? [own, 'envelopesPerTurn'] : ['envelopesPerTurn'];
  for (const name of names) {
    const counter = counters[name];
    if (!counter || counter.current < counter.cap) continue;
    const { cap: limit, current } = counter;
    const reason = `${name} is limited to ${limit}; this would be number ${current + 1}.`;
    return { status: 'breached', reason, capKind: CAP_KINDS[name], limit, observed: current + 1 };
  }
  return null;
}

const trustOf = ({ meta }: Envelope, { trust }: Receiver): ContentTrust => meta.contentTrust ?? trust;

function trustGate(envelope: Envelope, receiver: Receiver): Outcome | null {
  const isRefused = receiver.isApproval && trustOf(envelope, receiver) === 'untrusted';
  return isRefused ? invalid('untrusted_content_blocks_approval') : null;
}

/** I2. */
function repeated({ type }: Envelope, prior: Prior | undefined): Outcome | null {
  if (!prior) return null;
  return prior.envelopeType === type ? prior.outcome : invalid('envelope_correlation_conflict');
}

function accepted(envelope: Envelope, receiver: Receiver): Outcome {
  const { envelopeId, payload, meta } = envelope;
  const { redactor } = receiver;
  const before = (payload ?? null) as Json;
  const after = redactor.redactJson(before);
  const clear = redactor.redactJson(meta as Json) as Envelope['meta'];
  return {
    status: 'accepted',
    envelopeId,
    recordedEventIds: [],
    normalizedMeta: { ...clear, contentTrust: trustOf(envelope, receiver) },
    redactedPayload: after,
    redactionCount: after === before ? 0 : marksIn(after) - marksIn(before),
    ...(isOlder(envelope, receiver) && { drift: true }),
  };
}

const marksIn = (value: Json): number => JSON.stringify(value).split('[REDACTED:').length - 1;
