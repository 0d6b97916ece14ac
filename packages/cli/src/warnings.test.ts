import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edge, node, workflow } from '../../host/src/testing/definitions.ts';
import { realHost } from './testing/real-host.ts';

test('what the host ignored, and where a run stopped, is printed', async (t) => {
  const condition = { type: 'equals' as const, left: 'outputs.go', right: true };
  const stuck = workflow('stuck', [node('a', 'core.noop'), node('b', 'core.noop')], {
    variables: [{ name: 'city', type: 'string' }],
    edges: [edge('a', 'b', { condition })],
  });
  const { gantry } = await realHost(t, [stuck]);
  const { code, out, err } = await gantry('run', 'stuck', '--input', 'ctiy=Bern', '--watch');
  assert.equal(code, 0, err);
  assert.match(err, /^Warning: Unknown input "ctiy" \(ignored\)\. Did you mean city\?$/m);
  assert.match(err, /^No edge out of a was taken: no condition held, so b did not run after it\.$/m);
  const [runId = ''] = /run_\w+|[0-9a-z-]{20,}/i.exec(out) ?? [];
  const again = await gantry('rerun', runId, '--input', 'ctiy=Bern');
  assert.match(again.err, /^Warning: Unknown input "ctiy" \(ignored\)\. Did you mean city\?$/m);
  const explained = await gantry('explain', runId);
  assert.match(explained.out, /^No edge out of a was taken/m);
});
