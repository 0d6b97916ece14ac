/** An envelope: a typed document that a model produced for a run. */
import { closedObject, optional, schemaErrors } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/schema';

const Id = Type.String({ minLength: 1, maxLength: 128 });
export const ContentTrust = Type.Enum(['trusted', 'untrusted']);
export type ContentTrust = Static<typeof ContentTrust>;

/** How a client may show the payload. It has no effect on validity. */
const Rendering = closedObject({
  display: optional(Type.Enum(['markdown', 'code', 'card', 'image', 'audio', 'file'])),
  mimeType: optional(Type.String()),
  lang: optional(Type.String()),
  alt: optional(Type.String()),
  title: optional(Type.String()),
});

const EnvelopeMeta = closedObject({
  source: Type.Enum(['ai-generation', 'user', 'system']),
  contentTrust: optional(ContentTrust),
  ts: Type.String({ format: 'date-time' }),
  traceparent: optional(Type.String()),
  label: optional(Type.String({ maxLength: 256 })),
  rendering: optional(Rendering),
});

export const Envelope = closedObject({
  type: Type.String({ minLength: 1, maxLength: 256 }),
  schemaVersion: optional(Type.Integer({ minimum: 0 })),
  envelopeId: Id,
  correlationId: Id,
  nodeId: optional(Id),
  payload: Type.Unknown(),
  meta: EnvelopeMeta,
  partial: optional(
    closedObject({
      isPartial: Type.Boolean(),
      index: Type.Integer({ minimum: 0 }),
      total: Type.Integer({ minimum: -1 }),
    }),
  ),
});
export type Envelope = Static<typeof Envelope>;

/** The place of a fault, without the faulty value: it may be a secret. */
export interface Fault {
  readonly instancePath: string;
  readonly message: string;
}

const FAULTS_MAX = 20;

export type Check = (value: unknown) => readonly Fault[];

/** Compiled on first use: most hosts never receive an envelope. */
export function checkOf(schema: Type.TSchema): Check {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return [];
    return schemaErrors(compiled, value)
      .slice(0, FAULTS_MAX)
      .map(({ instancePath, message }) => ({ instancePath, message }));
  };
}

export const faultsOfEnvelope = checkOf(Envelope);

/** Facts that the receiver adds if the envelope omits them. */
export interface Origin {
  readonly runId: string;
  readonly nodeId: string;
  readonly envelopeId: string;
  readonly at: number;
}

/** A model may omit fields that its host knows. The check refuses values that are not objects. */
export function completed(received: unknown, { runId, nodeId, envelopeId: id, at }: Origin): unknown {
  if (!isObject(received)) return received;
  const { envelopeId = id, meta = {} } = received;
  return {
    correlationId: `${runId}:${nodeId}:${String(envelopeId)}`,
    ...received,
    envelopeId,
    meta: isObject(meta) ? { source: 'ai-generation', ts: new Date(at).toISOString(), ...meta } : meta,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
