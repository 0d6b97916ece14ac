export type { EmittedEvent } from '@gantry/protocol';
export { apply, fold } from './apply.ts';
export {
  type EditedArtifact,
  type MadeArtifact,
  misfitRefusal,
  pendingArtifacts,
  shownContent,
} from './artifacts/artifact.ts';
export type { ArtifactType, ArtifactTypes, NodeArtifact, SyncOn } from './artifacts/node-artifact.ts';
export { type Exhaustion, inheritedBudget, type RunBudget } from './budget/budget.ts';
export { channelTriggers, isFromTrigger, type TriggerFiring, triggersFiredBy } from './channels/triggers.ts';
export * from './children/child.ts';
export { FAILURE_MODES, JOIN_MODES } from './children/join.ts';
export {
  type ChildRun,
  childRequests,
  childRuns,
  childrenToCancel,
  childWorkflows,
  exposedInput,
  isRunningChild,
  runningChildren,
} from './children/requests.ts';
export * from './command.ts';
export { DefinitionError, type DefinitionIssue, type DefinitionWarning } from './compilation.ts';
export { type CompileOptions, compile } from './compile.ts';
export { CONFORMANCE_MARK } from './conformance-workflow.ts';
export { type Decision, decide } from './decide.ts';
export { type Explanation, explain } from './explain.ts';
export { checkInputs, type InputIssue, inputIssues } from './inputs.ts';
export { accessRefusal } from './interrupt/authorize.ts';
export { hasTimedOut } from './interrupt/fold-interrupt.ts';
export * from './interrupt/interrupt.ts';
export type { PackSuspension } from './interrupt/pack-interrupt.ts';
export { voteCount } from './interrupt/quorum.ts';
export { llmCacheKey } from './llm-cache-key.ts';
export { CONFIG_MEMBERS } from './nodes/config-members.ts';
export { DISPATCH_MAX_FAN_OUT } from './nodes/dispatch-config.ts';
export { NODE_TYPES, OWN_TYPE_IDS } from './nodes/index.ts';
export type { PackEffect, PackNodeType, PackTypes } from './nodes/pack-node.ts';
export * from './plan.ts';
export {
  type Execution,
  executions,
  firstInterrupt,
  isAtWork,
  isReady,
  ORDINALS_PER_VISIT,
  type PackExecution,
  statusOf,
  waitsForChildren,
  wakeAt,
} from './queries.ts';
export { type Redact, redactEvent, redactFacts } from './redact.ts';
export { recordConflict, repairPoint, withNewVariables } from './replay/compatible.ts';
export { branchRun, type ForkedRun, replayRun, replaySlices } from './replay/fork-run.ts';
export type { ReplayOptions } from './replay/replay.ts';
export { EventDiffs, stateDiff } from './replay/run-diff.ts';
export * from './run.ts';
export { runOutputs } from './run-end.ts';
export type { CompileSchema, SchemaCheck } from './schema.ts';
export { snapshot } from './snapshot.ts';
export type { Refusal } from './step.ts';
export { inheritedTrust } from './trust.ts';
