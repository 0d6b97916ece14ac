/**
 * Receives envelopes into runs.
 *
 * I1  The outcome of an envelope, its events and the record of its correlation are one commit.
 * I2  An envelope whose correlation was judged before gets that earlier outcome, in any process.
 */
import { hash } from 'node:crypto';
import {
  A2UI_KIND,
  accept,
  BAD_SHAPE,
  type CounterName,
  type Envelope,
  type Outcome,
  type Prior,
  type Projection,
  projected,
  type Receiver,
  type RefusalMode,
  UNIVERSAL_KINDS,
} from '@gantry/ai';
import { type EmittedEvent, type Json, type JsonObject, OpenwopError } from '@gantry/protocol';
import {
  type Caller,
  type Changes,
  listRecords,
  type NodeCaller,
  type RecordKind,
  readRecord,
} from '@gantry/resources';
import type { EntryReads } from '@gantry/store';

/** Also advertised: `limits`. */
export const ENVELOPE_LIMITS = { clarificationRounds: 3, schemaRounds: 2, envelopesPerTurn: 5 } as const;

/** Of the kinds that every run here receives; also advertised: `schemaVersions`. */
export const SCHEMA_VERSIONS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(UNIVERSAL_KINDS).map(([name, { version }]) => [name, version]),
);

/** An upper bound: envelopes are deleted with their run. */
const KEPT_MS = 400 * 86_400_000;
/** Of one kind in one run that are not taken yet. */
const OPEN_MAX = 1_000;

interface Judged extends Prior {
  readonly runId: string;
  readonly at: number;
  /** Accepted, and taken by no wait. */
  readonly isOpen: boolean;
}

const openOf = (runId: string, envelopeType: string): string => JSON.stringify([runId, envelopeType]);

export const judged: RecordKind<Judged> = {
  kind: 'envelope',
  idPrefix: 'env',
  index: { open: ({ runId, envelopeType, isOpen }) => (isOpen ? openOf(runId, envelopeType) : null) },
  endsWithRun: ({ runId }) => runId,
  expiresAt: (_, now) => now + KEPT_MS,
};

export interface Receiving {
  readonly runId: string;
  readonly nodeId: string;
  readonly receiver: Omit<Receiver, 'priorOf'>;
  readonly refusalMode?: RefusalMode;
  /** Emitted first, in the same commit. */
  readonly before?: readonly EmittedEvent[];
  /** For the node that receives it, not for other nodes of the run. */
  readonly isTaken?: true;
}

export interface Received extends Pick<Projection, 'ending' | 'cause'> {
  readonly outcome: Outcome;
}

export interface AcceptedEnvelope {
  readonly envelopeType: string;
  readonly envelopeId: string;
  readonly payload: Json;
}

/** Ends a change without a record, unless the same call has one: refusals of this kind are not recorded. */
const NOTHING = new OpenwopError('service_unavailable', { message: 'There is no such envelope' });

export class Envelopes {
  readonly #changes: Pick<Changes, 'run'>;
  readonly #entries: EntryReads;

  constructor(changes: Pick<Changes, 'run'>, entries: EntryReads) {
    this.#changes = changes;
    this.#entries = entries;
  }

  async receive(caller: Caller, envelope: unknown, receiving: Receiving): Promise<Received> {
    const { runId, receiver, before = [], isTaken = false } = receiving;
    const { type = '', correlationId = '' } = namesOf(envelope);
    const recordId = idOf(runId, correlationId);
    const outcome = await this.#changes.run(caller, async (change): Promise<Outcome> => {
      const prior = await change.find(judged, recordId);
      const judgement = accept(envelope, { ...receiver, priorOf: () => prior?.record });
      change.tell(...before);
      if (prior || isMalformed(judgement)) return judgement;
      const isOpen = !isTaken && judgement.status === 'accepted' && type !== 'clarification.request';
      const record = { runId, envelopeType: type, outcome: judgement, at: change.now, isOpen };
      change.create(judged, record, recordId);
      change.tell(...projected({ type, correlationId }, judgement, receiving).events);
      return judgement;
    });
    const { ending, cause } = projected({ type, correlationId }, outcome, receiving);
    return { outcome, ending, cause };
  }

  /** The envelope that was accepted under that correlation before. */
  async accepted(
    { tenant, runId }: { readonly tenant: string; readonly runId: string },
    envelopeType: string,
    correlationId: string,
  ): Promise<AcceptedEnvelope | null> {
    const found = await readRecord(this.#entries, judged, tenant, idOf(runId, correlationId));
    return found?.record.envelopeType === envelopeType ? projectionOf(found.record) : null;
  }

  /** Takes the oldest open envelope of a kind. A repeat of the call gets the same. */
  async take(caller: NodeCaller, runId: string, envelopeType: string): Promise<AcceptedEnvelope | null> {
    const index = { name: 'open', value: openOf(runId, envelopeType) };
    try {
      return await this.#changes.run(caller, async (change) => {
        const open = await listRecords(this.#entries, judged, caller.tenant, { index, limit: OPEN_MAX });
        for (const { id } of open.sort((left, right) => left.record.at - right.record.at)) {
          const found = await change.find(judged, id);
          // Another wait may have taken it since it was listed
          const projection = found?.record.isOpen ? projectionOf(found.record) : null;
          if (!found || !projection) continue;
          change.update(found, { isOpen: false });
          return projection;
        }
        throw NOTHING;
      });
    } catch (error) {
      if (error === NOTHING) return null;
      throw error;
    }
  }

  /** Emits the events once, however often the node runs. */
  async tell(caller: NodeCaller, events: readonly EmittedEvent[]): Promise<void> {
    await this.#changes.run(caller, async (change) => {
      change.tell(...events);
      return {};
    });
  }
}

const idOf = (runId: string, correlationId: string): string =>
  hash('sha256', `${runId}\0${correlationId}`, 'hex');

function projectionOf({ envelopeType, outcome }: Judged): AcceptedEnvelope | null {
  if (outcome.status !== 'accepted') return null;
  const { envelopeId, redactedPayload: payload } = outcome;
  return { envelopeType, envelopeId, payload };
}

/** Nothing in a malformed envelope is reliable, not even its correlation. */
const isMalformed = (outcome: Outcome): boolean =>
  outcome.status === 'invalid' &&
  (outcome.reason.startsWith(BAD_SHAPE) || outcome.reason === 'capability_required');

function namesOf(envelope: unknown): Partial<Pick<Envelope, 'type' | 'correlationId'>> {
  const { type, correlationId } = Object(envelope) as JsonObject;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof correlationId === 'string' && { correlationId }),
  };
}

interface ReceiverTerms extends Pick<Receiver, 'redactor' | 'trust'> {
  /** The kind that the node wants. */
  readonly envelopeType: string;
  readonly counts: Partial<Record<CounterName, number>>;
}

/** The envelopes that runs of this host receive. Surfaces are stored for clients that can show them. */
export const runReceiver = ({
  envelopeType,
  counts,
  ...terms
}: ReceiverTerms): Omit<Receiver, 'priorOf'> => ({
  ...terms,
  isSupported: true,
  supported: [...Object.keys(UNIVERSAL_KINDS), A2UI_KIND, envelopeType],
  versions: SCHEMA_VERSIONS,
  strictness: 'warn',
  counters: Object.fromEntries(
    Object.entries(counts).map(([name, current]) => [
      name,
      { current, cap: ENVELOPE_LIMITS[name as CounterName] },
    ]),
  ),
  isApproval: false,
});
