import type { JsonObject } from '@gantry/protocol';
import {
  type Attestation,
  attestationOf,
  checksumOf,
  mergeApproval,
  mergeVerdict,
} from '../children/attestation.ts';
import { openChildren } from '../children/chain.ts';
import { childFailure, childView, type EndedChild, isEnded } from '../children/child.ts';
import { childrenOf } from '../children/fold-children.ts';
import { type Mapping, mergeHarvests, nameMap } from '../children/mapping.ts';
import type { Answer } from '../interrupt/interrupt.ts';
import { rejectionError } from '../interrupt/rejection.ts';
import { suspend } from '../interrupt/suspend.ts';
import { completeNode, failNode } from '../node-run.ts';
import type { PlanNode } from '../plan.ts';
import type { Step } from '../step.ts';
import type { NodeType, Preparation } from './node-type.ts';
import { settingsOf } from './settings.ts';

interface SubWorkflow {
  readonly workflowId: string;
  readonly onChildFailure: 'fail-parent' | 'absorb';
  readonly mapping: Mapping;
  readonly attestation: Attestation;
  readonly propagateCancellation: boolean;
}

/** Runs another workflow as a child and waits for its end. */
export const subWorkflow: NodeType = {
  typeId: 'core.subWorkflow',
  outputs: ['childRunId', 'childStatus', 'error', 'attestation', 'merged'],
  prepare: (preparation) => {
    const config = configOf(preparation);
    const { workflowId, mapping, propagateCancellation } = config;
    return {
      execute: () => ({
        kind: 'acts',
        act: (step, node) => openChildren(step, node, { workers: [workflowId], concurrency: 1 }),
      }),
      children: { mappingOf: () => mapping, propagateCancellation },
      childEnded: (step, node, child) => childEnded(step, node, config, child),
      answered: (step, node, answer) => answered(step, node, config, answer),
    };
  },
};

function configOf(preparation: Preparation): SubWorkflow {
  const { config, issue } = preparation;
  const { choice, flag } = settingsOf(preparation);
  const { workflowId, waitForCompletion = true } = config;
  if (typeof workflowId !== 'string' || !/^[a-z][a-z0-9_-]{0,127}$/.test(workflowId))
    issue('workflowId', 'A sub-workflow requires the id of its workflow');
  if (waitForCompletion !== true)
    issue('waitForCompletion', 'This host always waits for the child; remove the key');
  return {
    workflowId: String(workflowId),
    onChildFailure: choice('onChildFailure', ['fail-parent', 'absorb']) ?? 'fail-parent',
    mapping: {
      inputs: nameMap(preparation, 'inputMapping', config.inputMapping, 'inputs'),
      outputs: nameMap(preparation, 'outputMapping', config.outputMapping, 'outputs'),
    },
    attestation: attestationOf(preparation),
    propagateCancellation: flag('propagateCancellation') ?? true,
  };
}

function childEnded(step: Step, node: PlanNode, config: SubWorkflow, child: EndedChild): void {
  if (child.status === 'completed') {
    if (config.attestation.requireApproval) suspend(step, node, mergeApproval(step.plan, child));
    else merge(step, node, config, child, child.variables ?? {});
  } else if (config.onChildFailure === 'absorb') completeNode(step, node, childView(child));
  else failNode(step, node, childFailure(child), child.status === 'failed' && child.childRunId !== undefined);
}

function answered(step: Step, node: PlanNode, config: SubWorkflow, answer: Answer): void {
  const child = childrenOf(step.run, node.id)?.children[0];
  if (!child || !isEnded(child)) return;
  const verdict = mergeVerdict(step.plan, child, answer);
  if (verdict.kind === 'merge') merge(step, node, config, child, verdict.variables);
  else if (verdict.kind === 'rejected' && config.onChildFailure === 'absorb')
    completeNode(step, node, { ...childView(child), merged: false });
  else if (verdict.kind === 'closed')
    failNode(step, node, { code: 'approval_rejected', message: verdict.message }, false);
  else failNode(step, node, rejectionError(node, answer, "The merge of the child's outputs"), false);
}

function merge(
  step: Step,
  node: PlanNode,
  { mapping, attestation }: SubWorkflow,
  child: EndedChild,
  variables: JsonObject,
): void {
  const proof = attestation.checksum ? checksumOf(step.plan, child.variables ?? {}) : undefined;
  const refusal = mergeHarvests(step, node, [
    { child, outputs: mapping.outputs, variables, ...(proof && { attestation: proof }) },
  ]);
  if (refusal) failNode(step, node, refusal, false);
  else completeNode(step, node, { ...childView(child), ...(proof && { attestation: proof }) });
}
