import Type, { type Static } from 'typebox';
import { Data, FileRef, Label, LongText, PackName, strict } from './fields.ts';

/** A prompt by its id, or with a library and overrides. */
const PromptRef = Type.Union([Type.String({ minLength: 1, maxLength: 256 }), Data]);

export const AgentManifest = strict({
  agentId: PackName,
  persona: Type.String({ minLength: 1, maxLength: 200 }),
  modelClass: Type.Enum(['reasoning', 'writing', 'coding', 'research', 'classification', 'general']),
  label: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  description: Type.Optional(Type.String({ maxLength: 500 })),
  role: Type.Optional(Type.Enum(['skill', 'assistant'])),
  systemPrompt: Type.Optional(LongText),
  systemPromptRef: Type.Optional(FileRef),
  evalSuiteRef: Type.Optional(FileRef),
  toolAllowlist: Type.Optional(Type.Array(Label, { maxItems: 200 })),
  requiresCapabilities: Type.Optional(Type.Array(Label, { uniqueItems: true, maxItems: 50 })),
  memoryShape: Type.Optional(
    strict({
      scratchpad: Type.Optional(Type.Boolean()),
      conversation: Type.Optional(Type.Boolean()),
      longTerm: Type.Optional(Type.Boolean()),
    }),
  ),
  confidence: Type.Optional(
    strict({ defaultThreshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })) }),
  ),
  handoff: Type.Optional(
    strict({ taskSchemaRef: Type.Optional(FileRef), returnSchemaRef: Type.Optional(FileRef) }),
  ),
  promptLibraryRef: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,127}$' })),
  promptOverrides: Type.Optional(
    strict({
      system: Type.Optional(PromptRef),
      user: Type.Optional(PromptRef),
      'few-shot': Type.Optional(PromptRef),
      'schema-hint': Type.Optional(PromptRef),
    }),
  ),
});
export type AgentManifest = Static<typeof AgentManifest>;
