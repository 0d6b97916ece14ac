/** The effects of an envelope on its run: events, and how its node continues. */
import type { EmittedEvent, Json, JsonObject } from '@gantry/protocol';
import type { Outcome } from './accept.ts';
import type { Envelope } from './document.ts';
import { isUniversal } from './kinds.ts';

export type RefusalMode = 'fail-node' | 'discard-and-warn';

export interface Projection {
  readonly events: readonly EmittedEvent[];
  readonly ending:
    | { readonly kind: 'go-on' }
    /** People are asked; the node continues with their answers. */
    | { readonly kind: 'ask'; readonly questions: Json }
    | {
        readonly kind: 'fail';
        readonly code: string;
        readonly message: string;
        readonly details: JsonObject;
      };
  /** For all resulting events. */
  readonly cause: { readonly causationId: string; readonly contentTrust?: 'untrusted' };
}

const GO_ON = { kind: 'go-on' } as const;

export function projected(
  { type, correlationId }: Pick<Envelope, 'type' | 'correlationId'>,
  outcome: Outcome,
  { nodeId, refusalMode = 'fail-node' }: { readonly nodeId: string; readonly refusalMode?: RefusalMode },
): Projection {
  const isUntrusted = outcome.status === 'accepted' && outcome.normalizedMeta.contentTrust === 'untrusted';
  const cause = { causationId: correlationId, ...(isUntrusted && { contentTrust: 'untrusted' as const }) };
  const make = (events: readonly EmittedEvent[], ending: Projection['ending'] = GO_ON): Projection => ({
    events: events.map((event) => ({ ...event, ...cause })),
    ending,
    cause,
  });
  switch (outcome.status) {
    case 'accepted':
      return accepted(type, outcome, make);
    case 'gated': {
      const details = { refusedType: type, acceptedTypes: [...outcome.allowedKinds] };
      if (refusalMode === 'discard-and-warn')
        return make([logged('warn', `An envelope of the kind ${type} was discarded.`, details)]);
      const message = `The node does not accept envelopes of the kind ${type}.`;
      return make([], { kind: 'fail', code: 'envelope_contract_violation', message, details });
    }
    case 'breached': {
      const { capKind: kind, limit, observed, reason: message } = outcome;
      const breach = { type: 'cap.breached', payload: { kind, limit, observed, nodeId } } as const;
      return make([breach], { kind: 'fail', code: 'cap_breached', message, details: { kind, limit } });
    }
    case 'invalid': {
      const faults = outcome.details.map((fault) => ({ ...fault }));
      const message = `The envelope is not valid: ${outcome.reason}.`;
      return make([], { kind: 'fail', code: 'envelope_invalid', message, details: { faults } });
    }
  }
}

type Make = (events: readonly EmittedEvent[], ending?: Projection['ending']) => Projection;

function accepted(type: string, outcome: Extract<Outcome, { status: 'accepted' }>, make: Make): Projection {
  const { redactedPayload, envelopeId, normalizedMeta } = outcome;
  const payload = type === 'clarification.request' ? redactedPayload : shown(redactedPayload);
  const { rendering } = normalizedMeta;
  const hint = rendering && { rendering: { ...rendering } as JsonObject };
  const members = typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload : {};
  if (type === 'clarification.request') return make([], { kind: 'ask', questions: members.questions ?? [] });
  const received = (level: string, message: string, data: JsonObject): Projection =>
    make([{ ...logged(level, message, data), sealed: { envelope: type } }]);
  if (type === 'error') return received('error', String(members.message ?? ''), members);
  const level = isUniversal(type) ? 'debug' : 'info';
  const data = { type, envelopeId, payload, ...hint };
  return received(level, `An envelope of the kind ${type} was accepted.`, data);
}

/** Larger payloads are omitted from the log. The record of the envelope has the full payload. */
const SHOWN_MAX = 60_000;

function shown(payload: Json): Json {
  const length = Buffer.byteLength(JSON.stringify(payload));
  return length <= SHOWN_MAX ? payload : { omitted: `${length} bytes` };
}

const logged = (level: string, message: string, data: JsonObject): EmittedEvent => ({
  type: 'log.appended',
  payload: { level, message, data },
});
