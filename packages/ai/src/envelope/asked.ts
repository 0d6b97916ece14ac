/** Finds the requested envelope in an answer of a model, or other values in its place. Pure. */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Fault } from './document.ts';
import { A2UI_KIND, isUniversal, kindOf } from './kinds.ts';

export interface AskedEnvelope {
  readonly envelopeType: string;
  /** The faults of the payload, or of an answer without an envelope. */
  faultsOf(payload: Json): readonly Fault[];
  /** Whether the payload enters the run as an envelope, or is only the answer of the node. */
  readonly isReceived: boolean;
  /** The schema of the payload, if the kind has none. */
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

/** Null: the value is the answer itself. A value that fits the schema of an answer without envelopes always is. */
export function envelopeIn(value: Json, { isReceived, faultsOf }: AskedEnvelope): SentEnvelope | null {
  if (!isEnvelope(value)) return null;
  if (isReceived) return value;
  return isUniversal(value.type) && faultsOf(value).length > 0 ? value : null;
}

/** Surfaces are kept for clients that can show them, even if they were not requested. */
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

/** For a payload without a known schema. */
export const objectFaults = (payload: Json): readonly Fault[] =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)
    ? []
    : [{ instancePath: '', message: 'must be an object' }];

const schemaOf = (type: string, { envelopeType, schema }: AskedEnvelope): object | undefined =>
  kindOf(type)?.schema ?? (type === envelopeType ? schema : undefined);

/** Instructions for the model besides the prompt. */
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

/** The reply to the model after an envelope that no person has to answer. */
export function afterAside({ type, payload }: SentEnvelope, asked: AskedEnvelope): string {
  if (type !== 'schema.request')
    return `The envelope of the kind ${type} was received. Go on with ${asked.envelopeType}.`;
  const wanted = String((payload as JsonObject).envelopeType);
  const schema = schemaOf(wanted, asked);
  return schema
    ? `The JSON Schema of ${wanted}: ${JSON.stringify(schema)}`
    : `There is no schema for ${wanted}: any JSON object will do.`;
}
