/** What is asked and answered, for each kind of interrupt; whose identity a node bears. */
import Type, { type Static, type TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { problemsIn } from './problem.ts';

const closed = { additionalProperties: false } as const;
const optional = Type.Optional;
const Text = Type.String({ minLength: 1 });
const Texts = Type.Array(Type.String());
const Values = Type.Record(Type.String(), Type.Unknown());
const Id = Type.String({ minLength: 1, maxLength: 256 });
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

/** Open: gates add fields of their own. */
export const ApprovalData = Type.Object({
  artifactId: Text,
  artifactType: Text,
  title: Text,
  description: optional(Type.String()),
  artifactData: optional(Type.Unknown()),
  actions: Type.Array(Type.Enum([...APPROVAL_ACTIONS]), { minItems: 1, uniqueItems: true }),
  requiredApprovals: optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  approversList: optional(Texts),
  rejectionPolicy: optional(Type.Enum(['single-veto', 'majority'])),
  overrideBypassesQuorum: optional(Type.Boolean()),
  approverGroupRefs: optional(Texts),
  approverRoleRefs: optional(Texts),
  audience: optional(
    Type.Object({ subjects: optional(Texts), groups: optional(Texts), roles: optional(Texts) }, closed),
  ),
});

const Question = Type.Object({ id: Text, question: Text, schema: optional(Values) }, closed);

export const ClarificationData = Type.Object(
  {
    questions: Type.Array(Question, { minItems: 1, maxItems: 100 }),
    contextType: optional(Type.String()),
  },
  closed,
);

export const ExternalEventData = Type.Object({ eventType: Type.String(), correlation: Values }, closed);

export const CustomData = Type.Object({ customKind: Text, payload: optional(Type.Unknown()) }, closed);

export const LowConfidenceData = Type.Object(
  { agentId: AgentId, threshold: Share, observed: Share, decision: optional(Type.Unknown()) },
  closed,
);

/** A turn of a conversation as a caller may write it; what is missing the host fills in. */
export const TurnRequest = Type.Object({
  content: Type.Unknown(),
  messageId: optional(Id),
  from: optional(Id),
  to: optional(Type.String({ maxLength: 256 })),
  role: optional(Type.Enum(['user', 'agent'])),
  ts: optional(Type.Integer({ minimum: 0 })),
  turnIndex: optional(Type.Integer({ minimum: 0 })),
  speakerId: optional(Id),
});
export type TurnRequest = Static<typeof TurnRequest>;

export const ConversationAnswer = Type.Object(
  {
    operation: Type.Enum(['exchange', 'close']),
    turn: optional(TurnRequest),
    outcome: optional(Type.Unknown()),
  },
  closed,
);
export type ConversationAnswer = Static<typeof ConversationAnswer>;

export const AgentRef = Type.Object(
  {
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
  },
  closed,
);

const validators = new WeakMap<TSchema, Validator>();

/**
 * The first thing that is wrong with a value, and where; undefined when it fits.
 * @example misfit(CustomData, { customKind: '' }) // { path: '/customKind', message: 'must not have fewer ...' }
 */
export function misfit(schema: TSchema, value: unknown): { path: string; message: string } | undefined {
  let validator = validators.get(schema);
  if (!validator) {
    validator = Compile(schema);
    validators.set(schema, validator);
  }
  if (validator.Check(value)) return;
  const [first] = problemsIn(schema, validator.Errors(value));
  return { path: first?.field ?? '', message: first?.problem ?? 'is not valid' };
}
