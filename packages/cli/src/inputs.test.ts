import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../../host/src/testing/definitions.ts';
import { realHost } from './testing/real-host.ts';

test('an input for a variable of type string stays text, also one that reads as JSON', async (t) => {
  const typed = workflow('typed', [node('a', 'core.noop')], {
    variables: [
      { name: 'id', type: 'string' },
      { name: 'code', type: 'string' },
      { name: 'count', type: 'number' },
    ],
  });
  const { gantry, client } = await realHost(t, [typed]);
  const pairs = ['--input', 'id=5', '--input', 'code="07"', '--input', 'count=3'];
  const { code, out, err } = await gantry('run', 'typed', ...pairs, '--watch');
  assert.equal(code, 0, err);
  const [runId = ''] = /[0-9a-z_-]{20,}/i.exec(out) ?? [];
  const { inputs } = await client.runs.get(runId);
  assert.deepEqual(inputs, { id: '5', code: '07', count: 3 });
  const again = await gantry('rerun', runId, '--input', 'id=true', '--json');
  assert.equal(again.code, 0, again.err);
  assert.deepEqual((await client.runs.get(JSON.parse(again.out).runId)).inputs, {
    id: 'true',
    code: '07',
    count: 3,
  });
  const timed = await gantry('schedules', 'add', 'typed', '--in', '1h', '--input', 'id=5');
  assert.equal(timed.code, 0, timed.err);
});
