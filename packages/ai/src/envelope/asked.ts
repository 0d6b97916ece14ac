/** What a model that was asked for an envelope sent instead of it, or around it. Pure. */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Fault } from './document.ts';
import { A2UI_KIND, isUniversal, kindOf } from './kinds.ts';

export interface AskedEnvelope {
  readonly envelopeType: string;
  /** Of the payload, or of an answer without an envelope around it. */
  faultsOf(payload: Json): readonly Fault[];
  /** Whether the payload enters the run as an envelope, or is the answer of the node alone. */
  readonly isReceived: boolean;
  /** Of the payload, where the kind has none of its own. */
  readonly schema?: JsonObject;
}

export type SentEnvelope = JsonObject & { readonly type: string; readonly payload: Json };

/** A model may send several at once. */
export const valuesIn = (value: Json): readonly Json[] =>
  Array.isArray(value) && value.length > 0 && value.every(isEnvelope) ? value : [value];

const isEnvelope = (value: Json): value is SentEnvelope =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  typeof value.type === 'string' &&
  typeof value.payload === 'object';

/** Null: the answer itself. What fits the schema of an answer without envelopes is that, whatever it looks like. */
export function envelopeIn(value: Json, { isReceived, faultsOf }: AskedEnvelope): SentEnvelope | null {
  if (!isEnvelope(value)) return null;
  if (isReceived) return value;
  return isUniversal(value.type) && faultsOf(value).length > 0 ? value : null;
}

/** Surfaces are kept for readers that can show them, asked for or not. */
export const isAside = (type: string): boolean => isUniversal(type) || type === A2UI_KIND;

export function faultsOfSent(value: Json, asked: AskedEnvelope): readonly Fault[] {
  const sent = envelopeIn(value, asked);
  if (!sent) return asked.faultsOf(value);
  const known = isAside(sent.type) ? kindOf(sent.type) : undefined;
  if (!known && sent.type !== asked.envelopeType)
    return [{ instancePath: '/type', message: `must be ${asked.envelopeType}` }];
  const faults = known ? known.check(sent.payload) : asked.faultsOf(sent.payload);
  return faults.map(({ instancePath, message }) => ({ instancePath: `/payload${instancePath}`, message }));
}

/** Of a payload of which nothing else is known. */
export const objectFaults = (payload: Json): readonly Fault[] =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    ? []
    : [{ instancePath: '', message: 'must be an object' }];

const schemaOf = (type: string, { envelopeType, schema }: AskedEnvelope): object | undefined =>
  kindOf(type)?.schema ?? (type === envelopeType ? schema : undefined);

/** What a model gets beside the prompt. */
export function envelopeDirective(asked: AskedEnvelope): string {
  const schema = schemaOf(asked.envelopeType, asked);
  const shape = schema ? ` The payload matches this JSON Schema: ${JSON.stringify(schema)}.` : '';
  return (
    `Answer with one JSON object and nothing else: {"type":"${asked.envelopeType}","payload":{...}}.${shape} ` +
    'If you first need to know something from a person, answer instead with ' +
    '{"type":"clarification.request","payload":{"questions":[{"id":"...","question":"..."}]}}. ' +
    'If you cannot answer, use {"type":"error","payload":{"code":"...","message":"..."}}.'
  );
}

/** What a model gets after an envelope that nobody has to answer. */
export function afterAside({ type, payload }: SentEnvelope, asked: AskedEnvelope): string {
  if (type !== 'schema.request')
    return `The envelope of the kind ${type} was received. Go on with ${asked.envelopeType}.`;
  const wanted = String((payload as JsonObject).envelopeType);
  const schema = schemaOf(wanted, asked);
  return schema
    ? `The JSON Schema of ${wanted}: ${JSON.stringify(schema)}`
    : `There is no schema for ${wanted}: any JSON object will do.`;
}
