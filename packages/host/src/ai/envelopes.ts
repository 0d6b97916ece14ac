/**
 * Envelopes on their way into runs.
 *
 * I1  The outcome of an envelope, its events and the record of its correlation are one commit.
 * I2  An envelope of a correlation that was judged before gets the outcome of then, in whatever process.
 */
import { hash } from 'node:crypto';
import type { Receiver, RefusalMode } from '@gantry/ai';
import { accept, type Envelope, type Outcome, type Prior, type Projection, projected } from '@gantry/ai';
import type { JsonObject } from '@gantry/protocol';
import type { Caller, Changes, RecordKind } from '@gantry/resources';

/** Longer than any run is kept. */
const KEPT_MS = 400 * 86_400_000;

interface Judged extends Prior {
  readonly runId: string;
}

const judged: RecordKind<Judged> = {
  kind: 'envelope',
  idPrefix: 'env',
  endsWithRun: ({ runId }) => runId,
  expiresAt: (_, now) => now + KEPT_MS,
};

export interface Receiving {
  readonly runId: string;
  readonly nodeId: string;
  readonly receiver: Omit<Receiver, 'priorOf'>;
  readonly refusalMode?: RefusalMode;
}

export interface Received extends Pick<Projection, 'ending' | 'cause'> {
  readonly outcome: Outcome;
}

export class Envelopes {
  readonly #changes: Pick<Changes, 'run'>;

  constructor(changes: Pick<Changes, 'run'>) {
    this.#changes = changes;
  }

  async receive(caller: Caller, envelope: unknown, receiving: Receiving): Promise<Received> {
    const { runId, receiver } = receiving;
    const { type = '', correlationId = '' } = namesOf(envelope);
    const recordId = hash('sha256', `${runId}\0${correlationId}`, 'hex');
    const outcome = await this.#changes.run(caller, async (change): Promise<Outcome> => {
      const prior = await change.find(judged, recordId);
      const judgement = accept(envelope, { ...receiver, priorOf: () => prior?.record });
      if (prior || isMalformed(judgement)) return judgement;
      change.create(judged, { runId, envelopeType: type, outcome: judgement }, recordId);
      change.tell(...projected({ type, correlationId }, judgement, receiving).events);
      return judgement;
    });
    const { ending, cause } = projected({ type, correlationId }, outcome, receiving);
    return { outcome, ending, cause };
  }
}

/** Nothing in it can be relied on, not even its correlation. */
const isMalformed = (outcome: Outcome): boolean =>
  outcome.status === 'invalid' &&
  (outcome.reason === 'invalid_envelope_shape' || outcome.reason === 'capability_required');

function namesOf(envelope: unknown): Partial<Pick<Envelope, 'type' | 'correlationId'>> {
  const { type, correlationId } = Object(envelope) as JsonObject;
  return {
    ...(typeof type === 'string' && { type }),
    ...(typeof correlationId === 'string' && { correlationId }),
  };
}
