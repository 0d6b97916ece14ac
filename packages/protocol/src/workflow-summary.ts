/** Registered workflows in lists, responses of registration and checks, and workflows created from chains. */
import Type, { type Static } from 'typebox';
import { closedObject, optional, Texts, Values } from './schema.ts';

const CHAINS_MAX = 50;

export const WorkflowSummary = Type.Object({
  workflowId: Type.String(),
  /** The hash of the content; runs are pinned to it. */
  hash: Type.String(),
  version: Type.String(),
  name: Type.String(),
  registeredAt: Type.String(),
  /** Visible to every tenant of the host. */
  shared: Type.Boolean(),
});
export type WorkflowSummary = Static<typeof WorkflowSummary>;

/** A problem of a definition. With errors it can never run; a warning is a probable mistake. */
export const WorkflowIssue = Type.Object({
  /** JSON pointer; it can lead to a member that is missing. */
  path: Type.String(),
  nodeId: optional(Type.String()),
  edgeId: optional(Type.String()),
  severity: Type.Enum(['error', 'warning']),
  message: Type.String(),
  /** What to do about it. */
  fix: optional(Type.String()),
});
export type WorkflowIssue = Static<typeof WorkflowIssue>;

/** Not current if a higher version is. */
export const RegisteredWorkflow = Type.Object({
  ...WorkflowSummary.properties,
  current: Type.Boolean(),
  warnings: Type.Array(WorkflowIssue),
});
export type RegisteredWorkflow = Static<typeof RegisteredWorkflow>;

/** Valid if there are no errors. */
export const WorkflowCheck = Type.Object({ valid: Type.Boolean(), issues: Type.Array(WorkflowIssue) });
export type WorkflowCheck = Static<typeof WorkflowCheck>;

/** A chain of an installed pack, or chains in the request; the root may compose its siblings. */
export const FromChainRequest = closedObject({
  chainId: Type.String({ minLength: 1, maxLength: 128 }),
  packName: optional(Type.String({ minLength: 1, maxLength: 256 })),
  chains: optional(Type.Array(Values, { minItems: 1, maxItems: CHAINS_MAX })),
  parameters: optional(Values),
  workflowId: optional(Type.String({ pattern: '^[a-z][a-z0-9_-]*$', maxLength: 128 })),
  /** Parameters become variables of the workflow that each run may set. */
  deferred: optional(Type.Boolean()),
});
export type FromChainRequest = Static<typeof FromChainRequest>;

export const FromChainResponse = Type.Object({
  workflowId: Type.String(),
  subChainWorkflowIds: Texts,
  nodeCount: Type.Integer(),
});
export type FromChainResponse = Static<typeof FromChainResponse>;
