/** However much one tenant asks for at once, a request of another waits for little of it. Counted, not timed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node, workflow } from '../testing/definitions.ts';
import { apiTest, three } from './testing/api-test.ts';

const REQUESTS = 24;
/** Those under way when the other tenant asks, and a few that have their turn in between. */
const AHEAD_MAX = 8;

/** Its expression uses up all its steps when the list is long. */
const heavy = workflow(
  'heavy',
  [
    node(
      'spend',
      'core.identity',
      {},
      {
        inputs: {
          input: {
            type: 'expression',
            expression: 'variables.list.all(x, !variables.list.exists(y, y == x + 1000))',
          },
        },
      },
    ),
  ],
  {
    variables: [{ name: 'list', type: 'array' }],
  },
);

test('heavy expressions of one tenant hold up no other', async (t) => {
  const api = await apiTest(t, { workflows: [heavy] });
  const made = await api.post('/v1/host/gantry/keys', {
    name: 'other',
    tenant: 'other',
    scopes: ['runs:create', 'workflows:write'],
  });
  assert.equal(made.statusCode, 201, made.body);
  const other = { authorization: `Bearer ${made.json().key}` };
  assert.equal((await api.post('/v1/host/gantry/workflows', three, other)).statusCode, 201);
  const inputs = { list: Array.from({ length: 400 }, (_, i) => i) };
  let answered = 0;
  const flood = Array.from({ length: REQUESTS }, async () => {
    const { statusCode, body } = await api.post('/v1/runs', { workflowId: 'heavy', inputs });
    answered++;
    assert.equal(statusCode, 201, body);
  });
  assert.equal((await api.post('/v1/runs', { workflowId: 'three' }, other)).statusCode, 201);
  assert.ok(answered <= AHEAD_MAX, `${answered} of ${REQUESTS} were answered before it`);
  await Promise.all(flood);
});
