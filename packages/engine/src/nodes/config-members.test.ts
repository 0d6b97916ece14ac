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
    return error.issues.map(
      ({ path, message, fix }) => `${path} ${[message, fix].filter(Boolean).join('. ')}`,
    );
  }
}

describe('members of a config', () => {
  test('one that the type does not know is refused, with what was probably meant', () => {
    assert.deepEqual(issuesOf('core.approvalGate', { requiredAprovals: 2 }), [
      '/nodes/0/config/requiredAprovals core.approvalGate has no setting requiredAprovals. Did you mean requiredApprovals?',
    ]);
    assert.deepEqual(issuesOf('core.delay', { delayMs: 1, ['x'.repeat(10_000)]: 1 }), [
      `/nodes/0/config/${'x'.repeat(64)} core.delay has no setting ${'x'.repeat(64)}`,
    ]);
    assert.deepEqual(issuesOf('core.approvalGate', { requiredApprovals: 0 }), [
      '/nodes/0/config/requiredApprovals must be >= 1',
    ]);
    assert.deepEqual(
      issuesOf('core.interrupt', { kind: 'approval', data: { title: '' } }).map(
        (issue) => issue.split(' ')[0],
      ),
      ['/nodes/0/config/data'],
    );
    assert.deepEqual(issuesOf('core.conditional', { expression: '[1].jion(",") == sise("")' }), [
      '/nodes/0/config/expression There is no method jion/1 (did you mean "join"?)',
    ]);
    assert.deepEqual(issuesOf('core.conditional', { expression: 'sise("") == 1' }), [
      '/nodes/0/config/expression There is no function sise/1 (did you mean "size"?)',
    ]);
    assert.deepEqual(issuesOf('core.noop', { nondeterministic: true, phase4Probe: 1 }), []);
  });
});
