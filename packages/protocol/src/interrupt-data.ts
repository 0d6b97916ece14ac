/** Request and response data of each kind of interrupt, and the identity of a node. */
import Type, { type Static, type TSchema } from 'typebox';
import { type LazyValidator, lazyValidator } from './lazy-validator.ts';
import { problemsIn } from './problem.ts';
import { Count, closedObject, Id, optional, Text, Texts, Values } from './schema.ts';

const Share = Type.Number({ minimum: 0, maximum: 1 });
export const AgentId = Type.String({ minLength: 3, maxLength: 256 });

export const INTERRUPT_KINDS = [
  'approval',
  'clarification',
  'external-event',
  'custom',
  'conversation.start',
  'conversation.exchange',
  'conversation.close',
  'low-confidence',
] as const;
export type InterruptKind = (typeof INTERRUPT_KINDS)[number];

export const APPROVAL_ACTIONS = ['accept', 'reject', 'refine', 'edit-accept', 'ask'] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];

export const RefineFeedback = Type.Object({
  scope: Type.Enum(['whole', 'section', 'items']),
  sectionPath: optional(Type.String()),
  itemIds: optional(Texts),
  tags: optional(Texts),
  text: optional(Type.String()),
});

/** Open: gates add their own fields. */
export const ApprovalData = Type.Object({
  artifactId: Text,
  artifactType: Text,
  title: Text,
  description: optional(Type.String()),
  artifactData: optional(Type.Unknown()),
  actions: Type.Array(Type.Enum([...APPROVAL_ACTIONS]), {
    minItems: 1,
    maxItems: APPROVAL_ACTIONS.length,
    uniqueItems: true,
  }),
  requiredApprovals: optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  approversList: optional(Texts),
  rejectionPolicy: optional(Type.Enum(['single-veto', 'majority'])),
  /** Each principal has one vote, under its own name. The default of quorums; false lets a key name its voters. */
  distinctVoters: optional(Type.Boolean()),
  overrideBypassesQuorum: optional(Type.Boolean()),
  approverGroupRefs: optional(Texts),
  approverRoleRefs: optional(Texts),
  audience: optional(
    closedObject({ subjects: optional(Texts), groups: optional(Texts), roles: optional(Texts) }),
  ),
});

const Question = closedObject({ id: Text, question: Text, schema: optional(Values) });

export const ClarificationData = closedObject({
  questions: Type.Array(Question, { minItems: 1, maxItems: 100 }),
  contextType: optional(Type.String()),
});

export const ExternalEventData = closedObject({ eventType: Type.String(), correlation: Values });

export const CustomData = closedObject({ customKind: Text, payload: optional(Type.Unknown()) });

export const LowConfidenceData = closedObject({
  agentId: AgentId,
  threshold: Share,
  observed: Share,
  decision: optional(Type.Unknown()),
});

/** A turn of a conversation as sent by a caller; the host fills in missing fields. */
export const TurnRequest = Type.Object({
  content: Type.Unknown(),
  messageId: optional(Id),
  from: optional(Id),
  to: optional(Type.String({ maxLength: 256 })),
  role: optional(Type.Enum(['user', 'agent'])),
  ts: optional(Count),
  turnIndex: optional(Count),
  speakerId: optional(Id),
});
export type TurnRequest = Static<typeof TurnRequest>;

export const ConversationAnswer = closedObject({
  operation: Type.Enum(['exchange', 'close']),
  turn: optional(TurnRequest),
  outcome: optional(Type.Unknown()),
});
export type ConversationAnswer = Static<typeof ConversationAnswer>;

export const AgentRef = closedObject({
  agentId: AgentId,
  name: optional(Type.String({ maxLength: 256 })),
  modelClass: optional(
    Type.Enum([
      'reasoning',
      'tool-using',
      'chat',
      'code',
      'vision',
      'multimodal',
      'embedding',
      'classification',
      'retrieval',
    ]),
  ),
  memoryRef: optional(Id),
  version: optional(Type.String({ maxLength: 64 })),
  channel: optional(Type.String({ minLength: 1, maxLength: 64 })),
  sourceManifestId: optional(Type.String({ maxLength: 256 })),
});

const validators = new WeakMap<TSchema, LazyValidator<TSchema>>();

/**
 * The first problem of a value, with its path; undefined if it is valid.
 * @example misfit(CustomData, { customKind: '' }) // { path: '/customKind', message: 'must not have fewer ...' }
 */
export function misfit(schema: TSchema, value: unknown): { path: string; message: string } | undefined {
  const validator = validators.get(schema) ?? lazyValidator(schema);
  validators.set(schema, validator);
  if (validator.Check(value)) return;
  const [first] = problemsIn(validator, value);
  return { path: first?.field ?? '', message: first?.problem ?? 'is not valid' };
}
