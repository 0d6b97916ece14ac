import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import canonicalize from 'canonicalize';
import { assertError } from '../testing/api-test.ts';
import { seamTest } from './testing/seam-test.ts';

test('the checksum is that of what the child reported, whatever the order of its keys', async (t) => {
  const api = await seamTest(t);
  const outputAttestation = { checksum: true };
  const childOutputs = { report: 'done', score: 0.9, tags: ['a', 'b'], done: true, more: { deep: 1 } };
  const one = await api.drive('subrun/attest', { childOutputs, outputAttestation });
  const turned = Object.fromEntries(Object.entries(childOutputs).reverse());
  const other = await api.drive('subrun/attest', { childOutputs: turned, outputAttestation });
  const checksum = hash('sha256', canonicalize(childOutputs) ?? '', 'hex');
  assert.deepEqual(one.attestation, { checksum, algorithm: 'sha256' });
  assert.deepEqual(other.attestation, one.attestation);
  assert.deepEqual(one.harvestedEvent.payload.attestation, one.attestation);
  assert.deepEqual([one.merged, one.mergedValues], [true, childOutputs]);
});

test('what needs an approval is merged after one only', async (t) => {
  const api = await seamTest(t);
  const base = { childOutputs: { artifact: 'x' }, outputAttestation: { requireApproval: true } };
  for (const action of ['accept', 'edit-accept', 'reject', 'none']) {
    const approval = action === 'none' ? {} : { approvalAction: action };
    const answer = await api.drive('subrun/attest', { ...base, ...approval });
    const merged = action === 'accept' || action === 'edit-accept';
    assert.equal(answer.merged, merged, action);
    assert.deepEqual(answer.mergedValues, merged ? { artifact: 'x' } : undefined, action);
    assert.equal(answer.harvestedEvent !== undefined, merged, action);
    const { status, variables } = (await api.get(`/v1/runs/${answer.runId}`)).json();
    assert.notEqual(status, 'waiting-approval');
    assert.equal('merged_artifact' in variables, merged, action);
  }
});

test('nothing to report is merged too; what cannot be reported is refused', async (t) => {
  const api = await seamTest(t);
  const nothing = await api.drive('subrun/attest', {
    childOutputs: {},
    outputAttestation: { checksum: true },
  });
  assert.equal(nothing.merged, true);
  assert.equal(nothing.attestation.checksum, hash('sha256', '{}', 'hex'));
  const post = (childOutputs: object) => api.post('/v1/host/sample/subrun/attest', { childOutputs });
  assertError(await post({ gone: null }), 400, 'validation_error', { key: 'childOutputs.gone' });
  assertError(await post({ toString: 1 }), 400, 'validation_error');
});
