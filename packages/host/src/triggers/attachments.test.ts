import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Egress, EgressError, type EgressReason } from '@gantry/egress';
import type { JsonObject } from '@gantry/protocol';
import type { BlobPort } from '@gantry/surfaces';
import { assertPublic } from '../api/testing/api-test.ts';
import { node, workflow } from '../testing/definitions.ts';
import { TENANT, type TestOptions, triggersTest } from './testing/triggers-test.ts';

const MAIL = { from: 'Ada <ada@example.org>', to: ['in@example.com'], subject: 'Hi', text: 'See attached' };
const RETENTION_MS = 30 * 86_400_000;
const inbox = workflow('inbox', [node('a', 'core.noop')]);

interface Web {
  /** By URL: the answer, or why there is none. */
  readonly answers: Map<string, string | number | EgressReason>;
  readonly objects: Map<string, string>;
  readonly asked: string[];
}

function web(): Web & Pick<TestOptions, 'attachments'> {
  const [answers, objects, asked] = [new Map(), new Map<string, string>(), [] as string[]];
  const request: Egress['request'] = async (url) => {
    asked.push(url);
    const answer = answers.get(url) ?? 'address_not_allowed';
    if (typeof answer === 'string' && /_/.test(answer))
      throw new EgressError({ reason: answer as EgressReason, message: answer });
    const status = typeof answer === 'number' ? answer : 200;
    const head = { url, address: '192.0.2.1', redirected: false, durationMs: 1 };
    const headers = new Headers({ 'content-type': 'image/png; x=y' });
    return { ...head, status, headers, body: Buffer.from(String(answer)) };
  };
  const put: BlobPort['put'] = async ({ bucket, key, bytes }, { tenant }) => {
    objects.set([tenant, bucket, key].join(' '), Buffer.from(bytes).toString());
    return { sizeBytes: bytes.length };
  };
  const remove: BlobPort['delete'] = async ({ bucket, key }, { tenant }) => ({
    deleted: objects.delete([tenant, bucket, key].join(' ')),
  });
  const attachments = { egress: { request }, blobs: { put, delete: remove }, bucket: 'files' };
  return { answers, objects, asked, attachments };
}

async function inboxTest(t: TestContext, options: Pick<TestOptions, 'attachments'>) {
  const rig = await triggersTest(t, options);
  await rig.register(inbox);
  const registration = { source: 'email', workflowId: 'inbox', verification: { mode: 'none' } };
  const { subscription, binding } = await rig.subscribe(registration);
  return {
    ...rig,
    async arrive(more: JsonObject) {
      const body = JSON.stringify({ ...MAIL, ...more });
      return rig.send(binding.ingestUrl, body, { 'content-type': 'application/json' });
    },
    /** What the run of the newest message got, and what is said of its delivery. */
    async newest() {
      const { subscriptionId } = subscription;
      const url = `/v1/host/gantry/trigger-subscriptions/${subscriptionId}/deliveries`;
      const [delivery] = (await rig.request('GET', url)).json().deliveries;
      if (!delivery.runId) return { delivery };
      const read = await rig.runtime.read({ tenant: TENANT, runId: delivery.runId });
      const event = read?.run.facts.triggerData as JsonObject & { email: JsonObject };
      assertPublic('trigger-event.schema.json', event);
      return { delivery, email: event.email };
    },
  };
}

test('a message starts a run whose attachments are objects of the tenant', async (t) => {
  const { attachments, answers, objects } = web();
  const rig = await inboxTest(t, { ...(attachments && { attachments }) });
  answers.set('https://files.example.com/a.png', 'PNG');
  const response = await rig.arrive({
    attachments: [
      { url: 'https://files.example.com/a.png', filename: 'a.png' },
      { content: Buffer.from('text').toString('base64'), mediaType: 'text/plain' },
    ],
  });
  assert.equal(response.statusCode, 202, response.body);
  await rig.triggers.tick();
  const { deliveryId } = response.json();
  const { email, delivery } = await rig.newest();
  assert.deepEqual(email, {
    ...MAIL,
    attachments: [
      { ref: `triggers/${deliveryId}/0`, filename: 'a.png', mediaType: 'image/png', bytes: 3 },
      { ref: `triggers/${deliveryId}/1`, mediaType: 'text/plain', bytes: 4 },
    ],
  });
  assert.equal(delivery.droppedAttachments, undefined);
  assert.equal(objects.get(`${TENANT} files triggers/${deliveryId}/0`), 'PNG');

  await rig.later(RETENTION_MS);
  assert.equal(objects.size, 2, 'the run may still be at work');
  await rig.later(RETENTION_MS + 1);
  assert.equal(objects.size, 0);
});

test('what may not be fetched is dropped at once, what fails for the moment after three tries', async (t) => {
  const { attachments, answers, asked } = web();
  const rig = await inboxTest(t, { ...(attachments && { attachments }) });
  const [inside, gone, down] = ['http://10.0.0.1/', 'https://a.example/gone', 'https://a.example/down'];
  answers.set(gone, 404);
  answers.set(down, 503);
  await rig.arrive({ attachments: [{ url: inside }, { url: gone }] });
  await rig.triggers.tick();
  const first = await rig.newest();
  assert.deepEqual(first.delivery.droppedAttachments, [
    { attachment: 0, reason: 'address_not_allowed' },
    { attachment: 1, reason: 'not_found' },
  ]);
  assert.deepEqual(first.email?.attachments, []);

  rig.clock.at += 1;
  await rig.arrive({ subject: 'later', attachments: [{ url: down }] });
  await rig.triggers.tick();
  assert.equal((await rig.newest()).delivery.state, 'pending');
  await rig.later(5_000);
  await rig.later(30_000);
  assert.deepEqual((await rig.newest()).delivery.droppedAttachments, [
    { attachment: 0, reason: 'service_unavailable' },
  ]);
  assert.equal(asked.filter((url) => url === down).length, 3);
});

test('what the host that took a message did not fetch, the next one fetches', async (t) => {
  const first = web();
  const held = Promise.withResolvers<never>();
  const silent = { ...first.attachments!, egress: { request: () => held.promise } };
  const { store, clock, arrive, stop } = await inboxTest(t, { attachments: silent });
  const url = 'https://files.example.com/b.png';
  await arrive({ attachments: [{ url }] });

  const second = web();
  second.answers.set(url, 'PNG');
  const shared = { ...store, close: async () => {} };
  const next = await triggersTest(t, { store: shared, clock, attachments: second.attachments! });
  await next.later(12_000);
  assert.equal((await next.runIds()).length, 1);
  assert.deepEqual([...second.objects.values()], ['PNG']);
  held.reject(new EgressError({ reason: 'aborted', message: 'the host has died' }));
  await next.stop();
  await stop();
});

test('a message that cannot be read is refused with what is wrong', async (t) => {
  const rig = await inboxTest(t, {});
  const refused = async (more: JsonObject): Promise<string> => {
    const response = await rig.arrive(more);
    assert.equal(response.statusCode, 400, response.body);
    return response.json().message;
  };
  assert.match(await refused({ to: 'in@example.com' }), /\/to must be array/);
  assert.match(await refused({ attachments: [{ filename: 'a' }] }), /either a `url` or its `content`/);
  assert.match(await refused({ cc: [] }), /It has no member "cc"/);
});
