import Type, { type Static } from 'typebox';
import { closedObject, optional } from './schema.ts';

/** A model provider that the caller may use, and its current state. */
export const AiProvider = closedObject({
  id: Type.String(),
  /** `no-key`: add a credential. `unreachable`: an endpoint of the operator did not answer at the last attempt. */
  state: Type.Enum(['ready', 'no-key', 'unreachable', 'disabled']),
  selfHosted: Type.Boolean(),
  /** The ref of the credential that would be used. */
  credential: optional(Type.String()),
  /** The known models; others may be available too. */
  models: Type.Array(Type.String()),
  defaultModel: optional(Type.String()),
  modalities: Type.Array(Type.String()),
  /** The supported tasks: chat, embedding, image, ... */
  tasks: Type.Array(Type.String()),
  /** What to do if it is not ready. */
  next: optional(Type.String()),
});
export type AiProvider = Static<typeof AiProvider>;

export const AiProviders = closedObject({ providers: Type.Array(AiProvider) });
export type AiProviders = Static<typeof AiProviders>;
