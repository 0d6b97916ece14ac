/** Verification before a child's outputs are merged: a checksum, and an approval. */
import type { Json, JsonObject } from '@gantry/protocol';
import type { Answer, InterruptRequest } from '../interrupt/interrupt.ts';
import { deepEqual, isObject, own } from '../json.ts';
import type { Preparation } from '../nodes/node-type.ts';
import type { Plan } from '../plan.ts';
import type { EndedChild } from './child.ts';

export interface Attestation {
  readonly checksum: boolean;
  readonly requireApproval: boolean;
}

export function attestationOf(preparation: Preparation): Attestation {
  const value = preparation.config.outputAttestation;
  const off = { checksum: false, requireApproval: false };
  if (value === undefined) return off;
  const wrong = problemOf(value);
  if (wrong !== undefined) preparation.issue('outputAttestation', wrong);
  if (!isObject(value)) return off;
  return { checksum: value.checksum === true, requireApproval: value.requireApproval === true };
}

function problemOf(value: Json): string | undefined {
  if (!isObject(value)) return '`outputAttestation` must be an object';
  const { checksum, algorithm, requireApproval, principalScope } = value;
  for (const flag of [checksum, requireApproval])
    if (flag !== undefined && typeof flag !== 'boolean')
      return '`checksum` and `requireApproval` must be booleans';
  if (algorithm !== undefined && algorithm !== 'sha256') return '`algorithm` must be sha256';
  const isScopes = Array.isArray(principalScope) && principalScope.every((item) => typeof item === 'string');
  return principalScope === undefined || isScopes ? undefined : '`principalScope` must be a list of scopes';
}

/** Whether compiling the node needs a hash function. */
export const wantsChecksum = (config: unknown): boolean => {
  const attestation = isObject(config) ? own(config, 'outputAttestation') : undefined;
  return isObject(attestation) && attestation.checksum === true;
};

/** A checksum of the variables that the child reported, before they are mapped. */
export const checksumOf = (plan: Plan, variables: JsonObject): JsonObject => ({
  checksum: plan.sha256!(canonicalJson(variables)),
  algorithm: 'sha256',
});

/** Requests approval to merge the child's outputs. Sensitive variables of the child stay masked. */
export function mergeApproval(plan: Plan, child: EndedChild): InterruptRequest {
  return {
    kind: 'approval',
    data: {
      artifactId: child.childRunId ?? child.workflowId,
      artifactType: 'child-outputs',
      title: `Merge the outputs of ${child.workflowId}?`,
      artifactData: shownVariables(plan, child),
      actions: ['accept', 'reject', 'edit-accept', 'ask'],
    },
  };
}

function shownVariables(plan: Plan, { variables = {}, sensitive = [] }: EndedChild): JsonObject {
  const shown: JsonObject = {};
  for (const name of Object.keys(variables)) {
    const value = sensitive.includes(name) ? plan.mask(variables[name]!) : variables[name]!;
    if (value !== undefined) shown[name] = value;
  }
  return shown;
}

export type MergeVerdict =
  | { readonly kind: 'merge'; readonly variables: JsonObject }
  | { readonly kind: 'rejected' }
  /** Not decided in time, or not a valid answer: nothing is merged, and `onChildFailure` does not apply. */
  | { readonly kind: 'closed'; readonly message: string };

export function mergeVerdict(plan: Plan, child: EndedChild, answer: Answer): MergeVerdict {
  if (answer.rejected === 'timeout') return { kind: 'closed', message: 'The approval timed out.' };
  const value = isObject(answer.value) ? answer.value : {};
  if (answer.rejected === 'reject' || value.action === 'reject') return { kind: 'rejected' };
  if (value.action === 'accept') return { kind: 'merge', variables: child.variables ?? {} };
  if (value.action === 'edit-accept' && isObject(value.editedArtifactData))
    return { kind: 'merge', variables: edited(plan, child, value.editedArtifactData) };
  return { kind: 'closed', message: 'The answer must accept or reject.' };
}

/** A masked value that is returned unchanged stands for the original value. */
function edited(plan: Plan, child: EndedChild, data: JsonObject): JsonObject {
  const shown = shownVariables(plan, child);
  const variables: JsonObject = {};
  for (const name of Object.keys(data)) {
    const hidden = child.sensitive?.includes(name) && deepEqual(data[name], own(shown, name));
    variables[name] = hidden ? child.variables![name]! : data[name]!;
  }
  return variables;
}

/**
 * RFC 8785 JSON. For values from `JSON.parse` this is JSON without spaces, with numbers and texts as
 * `JSON.stringify` writes them, and keys in the order of their UTF-16 code units, which is the default order of
 * `sort`.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`).join(',')}}`;
}
