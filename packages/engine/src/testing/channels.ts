/** Workflows that write to channels, for tests. */
import assert from 'node:assert/strict';
import type { ChannelDeclaration, Json, WorkflowDefinition, WorkflowNode } from '@gantry/protocol';
import { compileSchema } from '../../../protocol/src/testing/json-schema.ts';
import { compile, DefinitionError, snapshot } from '../index.ts';
import { edge, node, type Trial, workflow } from './workflow.ts';

export const write = (
  id: string,
  value: Json,
  extras: Partial<WorkflowNode> = {},
  channelName = 'log',
): WorkflowNode =>
  node(id, 'core.channelWrite', { ...extras, config: { channelName, value, ...extras.config } });

/** Writes one value after the other to the channel `log`. */
export function chain(declaration: ChannelDeclaration, values: readonly Json[], rest: WorkflowNode[] = []) {
  const nodes = [...values.map((value, index) => write(`w${index}`, value)), ...rest];
  const edges = nodes.slice(1).map((item, index) => edge(`${nodes[index]!.id}>${item.id}`));
  return workflow(nodes, edges, { channels: { log: declaration } });
}

export const channelValue = (trial: Trial, name = 'log'): Json | undefined =>
  snapshot(trial.plan, trial.run).channels?.[name] as Json;
export const errorOf = (trial: Trial): string | undefined => trial.run.error?.code;

export function issuesOf(definition: WorkflowDefinition): string[] {
  try {
    compile(definition, { compileSchema });
    return [];
  } catch (error) {
    assert.ok(error instanceof DefinitionError);
    return error.issues.map(({ path }) => path);
  }
}
