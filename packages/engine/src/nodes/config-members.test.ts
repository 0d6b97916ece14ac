import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compile, DefinitionError } from '../index.ts';
import { node, workflow } from '../testing/workflow.ts';

function issuesOf(typeId: string, config: object): string[] {
  try {
    compile(workflow([node('a', typeId, { config: { ...config } })]));
    return [];
  } catch (error) {
    assert.ok(error instanceof DefinitionError);
    return error.issues.map(({ path, message }) => `${path} ${message}`);
  }
}

describe('members of a config', () => {
  test('one that the type does not know is refused, with what was probably meant', () => {
    assert.deepEqual(issuesOf('core.approvalGate', { requiredAprovals: 2 }), [
      '/nodes/0/config/requiredAprovals core.approvalGate has no setting requiredAprovals (did you mean "requiredApprovals"?)',
    ]);
    assert.deepEqual(issuesOf('core.delay', { delayMs: 1, ['x'.repeat(10_000)]: 1 }), [
      `/nodes/0/config/${'x'.repeat(64)} core.delay has no setting ${'x'.repeat(64)}`,
    ]);
    assert.deepEqual(issuesOf('core.noop', { nondeterministic: true, phase4Probe: 1 }), []);
  });
});
