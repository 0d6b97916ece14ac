import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edge, node, workflow } from '../../host/src/testing/definitions.ts';
import { isWaiting, reaches, realHost } from './testing/real-host.ts';

const review = node('review', 'core.approvalGate', {
  title: 'Publish the report',
  description: 'Page 3 has the numbers.',
  actions: ['accept', 'reject', 'refine', 'ask'],
});
const GATE = workflow('gate', [review, node('publish', 'core.noop')]);
const QUORUM = workflow('quorum', [
  node('board', 'core.approvalGate', {
    title: 'Spend',
    requiredApprovals: 2,
    artifactData: { item: 'desks', price: 900 },
    distinctVoters: false,
    timeoutMs: 3_600_000,
  }),
]);
const FORM = workflow('form', [
  node('details', 'core.clarificationGate', {
    questions: [
      { id: 'city', question: 'Which city?', schema: { type: 'string' } },
      { id: 'days', question: 'How many days?', schema: { type: 'integer' } },
    ],
  }),
]);
const PAYMENT = workflow('payment', [
  node('paid', 'core.interrupt', {
    kind: 'external-event',
    data: { eventType: 'payment.received', correlation: { invoice: 'i-7' } },
  }),
]);
const TWO = workflow(
  'two',
  [node('begin', 'core.noop'), node('one', 'core.approvalGate'), node('other', 'core.approvalGate')],
  { edges: [edge('begin', 'one'), edge('begin', 'other')] },
);

type Host = Awaited<ReturnType<typeof realHost>>;

async function waitingRun({ client }: Host, workflowId: string): Promise<string> {
  const { runId } = await client.runs.create({ workflowId });
  await reaches(client, runId, isWaiting);
  return runId;
}

const statusOf = async ({ client }: Host, runId: string) => (await client.runs.wait(runId)).status;

test('approvals shows what waits, who may answer and what to type; approve needs no node', async (t) => {
  const host = await realHost(t, [GATE]);
  assert.equal((await host.gantry('approvals')).out, 'Nothing waits for an answer.\n');
  const runId = await waitingRun(host, 'gate');
  const shown = [await host.gantry('approvals'), await host.gantry('approvals', runId)].map(({ out }) =>
    out.replace(/waits for \S+/, 'waits for AGE'),
  );
  const expected = [
    `Publish the report  gate ${runId} review, waits for AGE`,
    '  Page 3 has the numbers.',
    '  May answer: any key with the scope approvals:respond',
    `  gantry approve ${runId} review`,
    `  gantry reject ${runId} review --reason TEXT`,
    `  gantry answer ${runId} review action=refine refineFeedback=TEXT`,
    `  gantry answer ${runId} review action=ask question=TEXT`,
    '',
  ].join('\n');
  assert.deepEqual(shown, [expected, expected]);
  const listed = JSON.parse((await host.gantry('approvals', '--json')).out);
  assert.equal(listed.interrupts[0].nodeId, 'review');

  assert.match((await host.gantry('explain', runId)).out, new RegExp(`gantry approvals ${runId}`));

  const done = await host.gantry('approve', runId, '--comment', 'fine');
  assert.equal(done.code, 0, done.err);
  assert.match(done.out, new RegExp(`^${runId} \\w+\n$`));
  assert.equal(await statusOf(host, runId), 'completed');
  const { events } = await host.client.runs.poll(runId, { timeoutSeconds: 1 });
  const received = events.find(({ type }) => type === 'approval.received');
  assert.equal(received?.payload.comment, 'fine');
});

test('reject needs a reason and fails the gate; a second answer is refused', async (t) => {
  const host = await realHost(t, [GATE]);
  const runId = await waitingRun(host, 'gate');
  const mute = await host.gantry('reject', runId);
  assert.equal(mute.code, 2);
  assert.match(mute.err, /A reason is required.*--reason TEXT/);
  assert.equal((await host.gantry('reject', runId, 'review', '--reason', 'too early')).code, 0);
  assert.equal(await statusOf(host, runId), 'failed');
  const { error } = await host.client.runs.get(runId);
  assert.match(error?.message ?? '', /^The approval was rejected by \S+ \("too early"\)\.$/);
  assert.match((await host.gantry('explain', runId)).out, /rejected by \S+ \("too early"\)/);
  const late = await host.gantry('approve', runId, 'review');
  assert.equal(late.code, 2);
  const none = await host.gantry('approve', runId);
  assert.match(none.err, /has no open interrupt: it is failed/);
});

test('a quorum shows its votes and stays open until it is met', async (t) => {
  const host = await realHost(t, [QUORUM]);
  const runId = await waitingRun(host, 'quorum');
  const first = await host.gantry('answer', runId, 'action=accept', 'voter=ada', 'comment=in the plan');
  assert.equal(first.code, 0, first.err);
  const open = `Still open: gantry approvals ${runId}\n`;
  assert.equal(first.out, `${runId} waiting-approval, 1 of 2 approvals\n${open}`);
  const again = await host.gantry('answer', runId, 'action=accept', 'voter=ada');
  const nothing = 'Nothing changed: this answer was already counted.';
  assert.equal(again.out, `${runId} waiting-approval, 1 of 2 approvals\n${nothing}\n${open}`);
  const { out } = await host.gantry('approvals', runId);
  assert.match(out, /1 of 2 approvals: \S+ada approves \("in the plan"\)\n/);
  assert.match(out, /\n {2}item: desks\n {2}price: 900\n/);
  assert.match(out, /Rejected automatically in (59m|1h)/);
  const last = await host.gantry('answer', runId, 'board', 'action=accept', 'voter=bob', 'comment=agreed');
  assert.equal(last.code, 0);
  assert.equal(await statusOf(host, runId), 'completed');
  const { events } = await host.client.runs.poll(runId, { timeoutSeconds: 1 });
  const comments = events.filter(({ type }) => type === 'log.appended').map(({ payload }) => payload.message);
  assert.deepEqual(comments, ['in the plan', 'agreed']);
  const { votes } = Object((await host.client.runs.get(runId)).outputs);
  assert.deepEqual(
    votes.map((vote: object) => Object(vote).comment),
    comments,
  );
});

test('approvals link prints an address for each person, who votes there in that name', async (t) => {
  const host = await realHost(t, [QUORUM]);
  const runId = await waitingRun(host, 'quorum');
  assert.match((await host.gantry('approvals', 'link', runId)).err, /--for NAME/);
  assert.match((await host.gantry('approvals', runId, '--for', 'ada')).err, /gantry approvals link RUN/);
  const made = await host.gantry('approvals', 'link', runId, '--for', 'ada', '--for', 'bob', '--json');
  assert.equal(made.code, 0, made.err);
  const { links } = JSON.parse(made.out);
  const gone = await host.gantry('approvals', 'link', runId, '--for', 'eve@example.org', '--revoke');
  assert.equal(gone.out, 'eve@example.org revoked\n', gone.err);
  const shown = await host.gantry('approvals', 'link', runId, 'board', '--for', 'ada');
  assert.match(shown.out, /^ada until \S+\n {2}http:\/\/127\.0\.0\.1:\d+\/v1\/interrupts\/\S+\n$/);
  const body = new URLSearchParams({ action: 'accept' });
  for (const { url } of links) assert.equal((await fetch(url, { method: 'POST', body })).status, 200);
  assert.equal(await statusOf(host, runId), 'completed');
});

test('answer: clarifications are read as their questions want them, and what is missing is named', async (t) => {
  const host = await realHost(t, [FORM]);
  const runId = await waitingRun(host, 'form');
  const partial = await host.gantry('answer', runId, 'city=8000');
  assert.equal(partial.code, 2);
  assert.match(partial.err, /without an answer:\n {2}days: How many days\?/);
  const empty = await host.gantry('answer', runId);
  assert.match(empty.err, new RegExp(`gantry answer ${runId} details city=TEXT days=TEXT`));
  const wrong = await host.gantry('approve', runId);
  assert.match(wrong.err, /does not ask for an approval\. Answer it:\ngantry answer/);
  const refused = await host.gantry('answer', runId, 'city=Bern', 'days=many');
  assert.equal(refused.code, 2);
  assert.equal((await host.gantry('answer', runId, 'city=8000', 'days=7')).code, 0);
  assert.equal(await statusOf(host, runId), 'completed');
  const { events } = await host.client.runs.poll(runId, { timeoutSeconds: 1 });
  const resolved = events.find(({ type }) => type === 'clarification.resolved');
  assert.deepEqual(resolved?.payload.answers, { city: '8000', days: 7 });
});

test('answer: an event gets its correlation filled in; --json is sent as it is', async (t) => {
  const host = await realHost(t, [PAYMENT, GATE]);
  const paid = await waitingRun(host, 'payment');
  assert.equal((await host.gantry('answer', paid, 'status=paid')).code, 0);
  assert.equal(await statusOf(host, paid), 'completed');
  const gate = await waitingRun(host, 'gate');
  const both = await host.gantry('answer', gate, 'a=1', '--json', '{}');
  assert.match(both.err, /not both/);
  assert.match((await host.gantry('answer', gate, '--json', '{')).err, /--json is not JSON/);
  assert.equal((await host.gantry('answer', gate, 'review', '--json', '{"action":"accept"}')).code, 0);
  assert.equal(await statusOf(host, gate), 'completed');
});

test('with two open questions the node has to be named', async (t) => {
  const host = await realHost(t, [TWO]);
  const runId = await waitingRun(host, 'two');
  const vague = await host.gantry('approve', runId);
  assert.equal(vague.code, 2);
  assert.match(
    vague.err,
    new RegExp(`more than one open interrupt.*\n {2}${runId} one\n {2}${runId} other\n`),
  );
  await host.gantry('approve', runId, 'one');
  await host.gantry('approve', runId);
  assert.equal(await statusOf(host, runId), 'completed');
});
