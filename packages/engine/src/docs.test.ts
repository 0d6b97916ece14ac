import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WorkflowDefinition, WorkflowNode } from '@gantry/protocol';
import { EXPRESSION_LIMITS } from './expression.ts';
import { compile, NODE_TYPES } from './index.ts';
import { workflow } from './testing/workflow.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/nodes.md'), 'utf8');
const examples: WorkflowNode[] = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = '']) =>
  JSON.parse(text),
);
const variables: WorkflowDefinition['variables'] = [
  { name: 'total', type: 'number', defaultValue: 0 },
  { name: 'lines', type: 'array' },
];

test('docs/nodes.md shows each type once, and its examples compile', () => {
  assert.deepEqual(examples.map(({ typeId }) => typeId).sort(), [...NODE_TYPES.keys()].sort());
  for (const typeId of NODE_TYPES.keys()) assert.ok(page.includes(`### ${typeId}\n`), typeId);
  assert.equal(
    compile(workflow(examples, [], { id: 'conformance-docs', variables }), {
      compileSchema: () => () => undefined,
    }).order.length,
    examples.length,
  );
});

test('docs/nodes.md tells the limits that hold', () => {
  assert.ok(page.includes(`${EXPRESSION_LIMITS.lengthMax.toLocaleString('en')} characters`));
  assert.ok(page.includes(`${EXPRESSION_LIMITS.stepsMax.toLocaleString('en')} steps`));
});
