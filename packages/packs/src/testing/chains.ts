/** Chains written by hand, and what a host gives to expand them. */
import assert from 'node:assert/strict';
import { type ErrorCode, type JsonObject, OpenwopError } from '@gantry/protocol';
import { Compile } from 'typebox/schema';
import type { CompileSchema, ExpandOptions } from '../index.ts';
import type { FragmentEdge, FragmentNode, WorkflowChain } from '../workflow-chain/chain.ts';

const compileSchema: CompileSchema = (schema) => {
  const compiled = Compile(schema);
  return (value) =>
    compiled
      .Errors(value)[1]
      .map(({ instancePath, message }) => ({ path: instancePath, message: message ?? 'does not fit' }));
};

export const options: ExpandOptions = {
  expansionId: 'a8f3',
  isKnownType: (typeId) => typeId.startsWith('vendor.acme.'),
  compileSchema,
  capabilities: { compensation: true },
};

/** Two nodes, one edge, a required parameter and one with a default. */
export const article: WorkflowChain = {
  chainId: 'vendor.acme.read-article',
  version: '1.2.0',
  label: 'Read an article',
  description: 'Fetches a page and sums it up.',
  parameters: {
    type: 'object',
    required: ['url'],
    properties: { url: { type: 'string' }, words: { type: 'integer', default: 50 } },
  },
  dag: {
    nodes: [
      { id: 'fetch-1', typeId: 'core.http.get', inputs: { url: '{{params.url}}' } },
      {
        id: 'sum',
        typeId: 'vendor.acme.summarize',
        name: 'Sum up',
        position: { x: 10, y: 20 },
        config: { length: '{{params.words}}', prompt: 'At most {{params.words}} words about {{params.url}}' },
      },
    ],
    edges: [{ from: 'fetch-1.body', to: 'sum.text', triggerRule: 'all_complete' }],
  },
  outputs: { summary: { type: 'string', description: 'What the page says.' } },
  capabilities: ['side-effectful'],
};

export const chainOf = (
  nodes: FragmentNode[],
  rest: Partial<WorkflowChain> & { edges?: FragmentEdge[] } = {},
): WorkflowChain => {
  const { edges, ...members } = rest;
  return {
    chainId: 'acme.small',
    version: '1.0.0',
    label: 'Small',
    description: '',
    parameters: {},
    dag: edges ? { nodes, edges } : { nodes },
    ...members,
  };
};

export const node = (rest: Partial<FragmentNode> = {}): FragmentNode => ({
  id: 'a',
  typeId: 'core.noop',
  ...rest,
});

/** The schema of parameters that are all open in type. */
export const parametersOf = (...names: string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});

/** Fails unless `act` throws the code with these details. */
export function refuses(act: () => unknown, code: ErrorCode, details: JsonObject = {}): OpenwopError {
  let caught: unknown;
  try {
    act();
  } catch (error) {
    caught = error;
  }
  assert.ok(caught instanceof OpenwopError, `expected ${code}, got ${caught}`);
  assert.equal(caught.code, code);
  assert.deepEqual({ ...caught.details, ...details }, caught.details);
  return caught;
}
