/** Gates of packs: what they send is shown, and what a person answers arrives where they read it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { node, workflow } from '../testing/definitions.ts';
import { onePerFile } from '../testing/one-per-file.ts';
import { sharedPackTest } from './testing/pack-test.ts';

const TYPE = 'vendor.acme.gate';
const ALL = ['accept', 'reject', 'refine', 'edit-accept', 'ask'];

/** Each asks in the words of a published gate, and returns the members that it reads. */
const GATES = {
  clarification: `
    const heard = await ctx.suspend({ reason: 'clarification', resumeKey: ctx.nodeId, questions: ['Which colour?', 'Which size?'] });
    return { answers: Array.isArray(heard.answers) ? heard.answers : 'no list', hasTime: typeof heard.submittedAt === 'string' };`,
  approval: `
    const heard = await ctx.suspend({ reason: 'approval', resumeKey: ctx.nodeId });
    return { decision: heard.decision, approved: heard.approved, feedback: heard.feedback ?? null, editedArtifact: heard.editedArtifact ?? null };`,
  hitl: `
    const heard = await ctx.suspend({ kind: 'approval', prompt: 'Ship it?', metadata: { size: 3 }, approvers: null, quorum: null, deadlineSeconds: null });
    return { decision: heard.decision, comment: heard.comment ?? null };`,
  asset: `
    const heard = await ctx.suspend({ reason: 'approval', prompt: { title: 'Select a logo', body: 'For the new site.' },
      availableAssets: [{ id: 'logo-1', name: 'Blue' }, { id: 'logo-2', name: 'Red' }], actionIds: ['use-existing', 'create-new', 'skip'] });
    if (heard.decision === 'approved') return heard.feedback ? { used: heard.feedback } : { created: true };
    return { skipped: heard.decision === 'rejected' };`,
  review: `
    const heard = await ctx.suspend({ reason: 'conversation-input', resumeKey: 'theme-review-1', reviewerRole: 'designer' });
    return { decision: heard.decision ?? 'request-changes', notes: heard.notes ?? null, isNamed: typeof heard.respondent === 'string' };`,
  phase: `
    const heard = await ctx.suspend({ reason: 'conversation-input', resumeKey: 'p', answerSchema: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } });
    return { answers: heard.answers };`,
  proposal: `
    const heard = await ctx.suspend({ reason: 'low-confidence', resumeKey: 'd', proposed: { agent: 'x' }, threshold: 0.7 });
    return heard.approved === false ? { refused: heard.rejectedReason } : { agent: heard.approvedAgentInstanceId ?? 'x' };`,
} as const;

const shared = onePerFile(async (life) => {
  const api = await sharedPackTest(life);
  const nodes = Object.entries(GATES).map(([name, body]) => [`${TYPE}.${name}`, { body, role: 'gate' }]);
  await api.install({ nodes: Object.fromEntries(nodes) });
  const config = { title: 'The poster', artifactType: 'poster' };
  const inputs = { artifact: { type: 'static' as const, value: { text: 'Hello' } } };
  for (const name of Object.keys(GATES))
    await api.registered(workflow(name, [node('a', `${TYPE}.${name}`, config, { inputs })]));
  return {
    ...api,
    /** The interrupt of a new run, by the API. */
    async asked(gate: keyof typeof GATES): Promise<{ runId: string; data: JsonObject; kind: string }> {
      const runId = await api.start(gate);
      const { kind, data } = await api.asks(runId);
      return { runId, kind: String(kind), data: Object(data) };
    },
    answer: (runId: string, resumeValue: unknown) =>
      api.post(`/v1/runs/${runId}/interrupts/a`, { resumeValue }),
    /** The page for a person, and its answer. */
    async page(runId: string) {
      const made = await api.post(`/v1/host/gantry/runs/${runId}/interrupts/a/links`, { person: 'ada' });
      const url = new URL(made.json().url).pathname;
      const headers = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' };
      const browse = await api.host.app.inject({ method: 'GET', url, headers: { accept: 'text/html' } });
      return {
        text: browse.body,
        submit: (fields: Record<string, string>) =>
          api.host.app.inject({ method: 'POST', url, headers, payload: `${new URLSearchParams(fields)}` }),
      };
    },
  };
});

const outputsAfter = async (runId: string): Promise<unknown> => {
  const run = await (await shared()).ended(runId);
  assert.equal(run.status, 'completed', JSON.stringify(run.error));
  return run.outputs;
};

test('questions without ids are shown, and answered by a list, by ids and on the page', async () => {
  const api = await shared();
  const expected = { answers: ['blue', '7'], hasTime: true };
  for (const answers of [['blue', '7'], { q1: 'blue', q2: '7' }, [{ answer: 'blue' }, { answer: '7' }]]) {
    const { runId, data } = await api.asked('clarification');
    assert.deepEqual(
      (data.questions as JsonObject[]).map(({ question }) => question),
      ['Which colour?', 'Which size?'],
    );
    assert.equal((await api.answer(runId, { answers: ['blue'] })).statusCode, 400);
    assert.equal((await api.answer(runId, { answers })).statusCode, 200);
    assert.deepEqual(await outputsAfter(runId), expected);
  }
  const { runId } = await api.asked('clarification');
  const page = await api.page(runId);
  for (const text of ['Which colour?', 'Which size?']) assert.ok(page.text.includes(text), page.text);
  await page.submit({ 'answer-0': 'blue', 'answer-1': '7' });
  assert.deepEqual(await outputsAfter(runId), expected);
});

const none = { feedback: null, editedArtifact: null };
const DECISIONS: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ action: 'accept' }, { decision: 'accept', approved: true, ...none }],
  [
    { action: 'reject', reason: 'no' },
    { decision: 'reject', approved: false, ...none, feedback: 'no' },
  ],
  [
    { action: 'refine', feedback: 'Larger.' },
    { decision: 'refine', approved: false, ...none, feedback: 'Larger.' },
  ],
  [
    { action: 'refine', refineFeedback: { scope: 'whole', text: 'Bolder.' } },
    { decision: 'refine', approved: false, ...none, feedback: 'Bolder.' },
  ],
  [
    { action: 'edit-accept', editedArtifact: { text: 'Hi' } },
    { decision: 'edit-accept', approved: true, ...none, editedArtifact: { text: 'Hi' } },
  ],
];

for (const [value, outputs] of DECISIONS)
  test(`an approval gate hears ${JSON.stringify(value)}`, async () => {
    const api = await shared();
    const { runId, data } = await api.asked('approval');
    assert.deepEqual(
      [data.title, data.artifactType, data.artifactData],
      ['The poster', 'poster', { text: 'Hello' }],
    );
    assert.deepEqual(data.actions, ALL);
    assert.equal((await api.answer(runId, { action: 'ask', question: 'Why?' })).statusCode, 200);
    assert.equal((await api.answer(runId, { action: 'refine' })).statusCode, 400);
    const answered = await api.answer(runId, value);
    assert.equal(answered.statusCode, 200, answered.body);
    assert.deepEqual(await outputsAfter(runId), outputs);
  });

test('the page of an approval gate shows its subject and offers all five actions', async () => {
  const api = await shared();
  const { runId } = await api.asked('approval');
  const page = await api.page(runId);
  for (const text of ['The poster', 'Hello', ...ALL.map((action) => `value="${action}"`)])
    assert.ok(page.text.includes(text), text);
  await page.submit({ action: 'refine', text: 'Larger.' });
  assert.deepEqual(await outputsAfter(runId), {
    ...none,
    decision: 'refine',
    approved: false,
    feedback: 'Larger.',
  });
});

test('a gate that knows two decisions gets one of them, with the words of the person', async () => {
  const api = await shared();
  for (const [value, outputs] of [
    [
      { action: 'accept', comment: 'fine' },
      { decision: 'approve', comment: 'fine' },
    ],
    [
      { action: 'reject', reason: 'late' },
      { decision: 'reject', comment: 'late' },
    ],
    [
      { action: 'refine', refineFeedback: 'smaller' },
      { decision: 'reject', comment: 'smaller' },
    ],
  ] as const) {
    const { runId, data } = await api.asked('hitl');
    assert.deepEqual([data.title, data.metadata], ['Ship it?', { size: 3 }]);
    await api.answer(runId, value);
    assert.deepEqual(await outputsAfter(runId), outputs);
  }
});

test('a choice of assets is shown with its assets, and each of its actions can be taken', async () => {
  const api = await shared();
  const { runId, data } = await api.asked('asset');
  assert.equal(data.title, 'Select a logo');
  assert.match(String(data.description), /For the new site\.\nApprove with one of the assets/);
  assert.deepEqual(data.actions, ['accept', 'reject', 'ask']);
  const page = await api.page(runId);
  for (const text of ['Select a logo', 'For the new site.', 'Blue (logo-1)', 'Red (logo-2)'])
    assert.ok(page.text.includes(text), text);
  await page.submit({ action: 'accept', asset: '1', text: 'nice' });
  assert.deepEqual(await outputsAfter(runId), { used: 'logo-2' });
  for (const [value, outputs] of [
    [{ action: 'accept', feedback: 'logo-1' }, { used: 'logo-1' }],
    [{ action: 'accept', comment: 'no logo fits' }, { created: true }],
    [{ action: 'reject', reason: 'later' }, { skipped: true }],
  ] as const) {
    const other = await api.asked('asset');
    await api.answer(other.runId, value);
    assert.deepEqual(await outputsAfter(other.runId), outputs);
  }
});

test('the decision of a reviewer arrives at the top', async () => {
  const api = await shared();
  const { runId } = await api.asked('review');
  assert.equal((await api.answer(runId, 'approve')).statusCode, 400);
  assert.equal((await api.answer(runId, { decision: 'approve', notes: 'good' })).statusCode, 200);
  assert.deepEqual(await outputsAfter(runId), { decision: 'approve', notes: 'good', isNamed: true });
  const other = await api.asked('review');
  const page = await api.page(other.runId);
  for (const text of ['designer', 'request-changes', 'notes']) assert.ok(page.text.includes(text), text);
  await page.submit({ 'answer-0': '1', 'answer-1': 'too dark' });
  assert.deepEqual(await outputsAfter(other.runId), { decision: 'reject', notes: 'too dark', isNamed: true });
});

test('the members of a schema are fields of the page', async () => {
  const api = await shared();
  const phase = await api.asked('phase');
  await (await api.page(phase.runId)).submit({ 'answer-0': '4' });
  assert.deepEqual(await outputsAfter(phase.runId), { answers: { size: 4 } });
  const proposal = await api.asked('proposal');
  assert.equal((await api.answer(proposal.runId, 'no')).statusCode, 400);
  await (await api.page(proposal.runId)).submit({ 'answer-0': '1', 'answer-2': 'unsafe' });
  assert.deepEqual(await outputsAfter(proposal.runId), { refused: 'unsafe' });
});
