import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiTest } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';

const soakRounds = Number(process.env.GANTRY_SOAK_ROUNDS ?? 0);
const [NARROW, WIDE] = soakRounds > 0 ? [250, 1_990] : [50, 300];

function wide(width: number) {
  const ids = Array.from({ length: width }, (_, index) => `n${index}`);
  const nodes = ids.map((id) => node(id, 'core.subWorkflow', { workflowId: 'worker' }));
  const edges = ids.map((id) => ({ id: `${id}>join`, sourceNodeId: id, targetNodeId: 'join' }));
  return workflow(`wide-${width}`, [...nodes, node('join', 'core.noop')], { edges });
}

test('many sub-workflows beside each other cost each as much as a few', async (t) => {
  const worker = workflow('worker', [node('a', 'core.noop')]);
  const api = await apiTest(t, { workflows: [worker, wide(NARROW), wide(WIDE)] });
  const cpuMsPerNode = async (width: number): Promise<number> => {
    const before = process.cpuUsage();
    const runId = await api.start(`wide-${width}`);
    assert.equal((await api.ended(runId)).status, 'completed');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000 / width;
  };
  await cpuMsPerNode(NARROW);
  for (let round = 0; round < Math.max(1, soakRounds); round++) {
    const [few, many] = [await cpuMsPerNode(NARROW), await cpuMsPerNode(WIDE)];
    t.diagnostic(`${few.toFixed(2)} ms a node with ${NARROW} nodes, ${many.toFixed(2)} ms with ${WIDE}`);
    // What a step copies is counted beside the engine; times are judged where the machine does nothing else.
    if (soakRounds > 0) assert.ok(many <= 1.5 * few, 'the cost of a node grows with the width');
  }
});
