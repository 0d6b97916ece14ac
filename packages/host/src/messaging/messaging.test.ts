import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { OpenwopError } from '@gantry/protocol';
import { personCaller } from '@gantry/resources';
import { openSqlite, type Store } from '@gantry/store';
import { selfSigned } from '../../../egress/src/testing/certificate.ts';
import { temporaryFolder } from '../testing/host-process.ts';
import { mailReceiver, webReceiver } from './testing/receivers.ts';
import { createWorld, credential, ENVELOPE } from './testing/world.ts';

const DAY_MS = 86_400_000;

async function sqlite(t: TestContext): Promise<Store> {
  const folder = await temporaryFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    await folder.remove();
  });
  return store;
}

const failsWith = (work: Promise<unknown>, code: string, words = /./) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof OpenwopError, String(error));
    assert.deepEqual([error.code, words.test(error.message)], [code, true], error.message);
    return true;
  });

describe('HTTP', () => {
  test('a message is delivered once, with its delivery id as the idempotency key', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url, got } = await webReceiver(t);
    await world.add({ connectorId: 'hook', type: 'http', url });
    const first = await world.send('hook');
    assert.equal(first.success, true);
    assert.deepEqual(await world.send('hook'), first, 'the same key is the same delivery');
    await world.later(0);
    assert.equal(got.length, 1);
    assert.equal(got[0]?.headers['idempotency-key'], first.deliveryId);
    assert.deepEqual(JSON.parse(got[0]?.body ?? ''), { deliveryId: first.deliveryId, envelope: ENVELOPE });
    assert.deepEqual(
      (await world.deliveries('hook')).map(({ deliveryId, state, attempts }) => [
        deliveryId,
        state,
        attempts,
      ]),
      [[first.deliveryId, 'delivered', 1]],
    );
    assert.deepEqual(await world.send('hook'), first, 'also after it was delivered');
    await failsWith(world.send('hook', { content: { text: 'Other' } }), 'idempotency_key_mismatch');
  });

  test('it is tried again for about a day, given up, and sent again when asked', async (t) => {
    const world = createWorld(t, await sqlite(t));
    let status = 503;
    const { url, got } = await webReceiver(t, () => status);
    await world.add({ connectorId: 'hook', type: 'http', url });
    const { deliveryId = '' } = await world.send('hook');
    await world.later(0);
    for (let hours = 0; hours < 40; hours++) await world.later(3_600_000);
    const [dead] = await world.deliveries('hook');
    assert.deepEqual([dead?.state, dead?.attempts, dead?.lastReason], ['dead', 10, 'http_status']);
    assert.equal(new Set(got.map(({ headers }) => headers['idempotency-key'])).size, 1);

    status = 200;
    const person = personCaller({ tenant: 'acme', principal: 'key_1' });
    await world.messaging.connectors.act(person, 'resend', 'hook', { deliveryId });
    await world.later(0);
    assert.equal((await world.deliveries('hook'))[0]?.state, 'delivered');
    await failsWith(world.messaging.connectors.act(person, 'resend', 'hook', { deliveryId }), 'not_found');
  });

  test('a refusal that nothing changes is final at once', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url } = await webReceiver(t, () => 422);
    await world.add({ connectorId: 'hook', type: 'http', url });
    await world.send('hook');
    await world.later(0);
    assert.deepEqual(
      (await world.deliveries('hook')).map(({ state, lastReason }) => [state, lastReason]),
      [['dead', 'message_refused']],
    );
  });

  test('a credential that is not accepted disconnects, and a delivery that succeeds connects again', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url, got } = await webReceiver(t, ({ headers }) =>
      headers.authorization === 'Bearer good' ? 200 : 401,
    );
    world.credentials.set('token', credential('Bearer bad'));
    await world.add({ connectorId: 'hook', type: 'http', url, credential: 'token' });
    await world.send('hook');
    await world.later(0);
    await failsWith(world.send('hook', { idempotencyKey: 'k2' }), 'connector_disconnected');
    world.credentials.set('token', credential('Bearer good'));
    await world.later(60_000);
    assert.equal((await world.deliveries('hook'))[0]?.state, 'delivered');
    assert.equal((await world.send('hook', { idempotencyKey: 'k2' })).success, true);
    assert.equal(got[1]?.headers.authorization, 'Bearer good');
  });

  test('a credential goes to its audiences alone', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url, got } = await webReceiver(t);
    const elsewhere = credential('Bearer secret', ['api.example.com']);
    world.credentials.set('token', elsewhere);
    const wanted = { connectorId: 'hook', type: 'http', url, credential: 'token' } as const;
    await failsWith(
      world.add(wanted),
      'validation_error',
      /127\.0\.0\.1.*out-of-audience.*--audience 127\.0\.0\.1/,
    );
    world.credentials.set('token', credential('Bearer secret'));
    await world.add(wanted);
    world.credentials.set('token', elsewhere);
    const refused = await world.send('hook');
    assert.equal(refused.success, false);
    assert.match(refused.error ?? '', /out-of-audience/);
    await world.later(0);
    assert.equal(got.length, 0);
  });

  test('Slack-style webhooks get text at the address that the credential holds', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url, got } = await webReceiver(t);
    world.credentials.set('hook', { ...credential(`${url}/services/T0/B0/secret`), header: 'x-api-key' });
    await world.add({ connectorId: 'ops', type: 'slack', credential: 'hook' });
    const content = { text: 'Deployed', media: [{ kind: 'image', ref: 'https://img.example.com/a.png' }] };
    await world.send('ops', {
      channel: 'slack',
      content,
      delivery: { conversationId: 'C1', threadId: '17.2' },
    });
    await world.later(0);
    assert.equal(got[0]?.url, '/services/T0/B0/secret');
    assert.deepEqual(JSON.parse(got[0]?.body ?? ''), {
      text: 'Deployed\nhttps://img.example.com/a.png',
      thread_ts: '17.2',
    });
    assert.equal(got[0]?.headers['x-api-key'], undefined);
  });

  test('what cannot be sent is refused before it is accepted', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url } = await webReceiver(t);
    await failsWith(world.send('nobody'), 'connector_not_found');
    await world.add({ connectorId: 'hook', type: 'http', url, channels: ['sms'] });
    await failsWith(world.send('hook'), 'channel_unsupported');
    await failsWith(
      world.send('hook', { channel: 'sms', content: { text: ' ' } }),
      'validation_error',
      /neither/,
    );
    await failsWith(world.add({ connectorId: 'x', type: 'http' }), 'validation_error', /needs `url`/);
    await failsWith(
      world.add({ connectorId: 'x', type: 'slack', credential: 'c', url }),
      'validation_error',
      /does not take `url`/,
    );
    await failsWith(
      world.add({ connectorId: 'x', type: 'http', url: 'https://10.0.0.1/' }),
      'validation_error',
      /connector@acme=https:\/\/10\.0\.0\.1:443/,
    );
    await failsWith(
      world.add({ connectorId: 'x', type: 'http', url, credential: 'none' }),
      'validation_error',
    );
  });

  test('messages of a connector that is removed are given up', async (t) => {
    const world = createWorld(t, await sqlite(t));
    const { url } = await webReceiver(t, () => 500);
    await world.add({ connectorId: 'hook', type: 'http', url });
    await world.send('hook');
    await world.later(0);
    await world.messaging.connectors.remove(personCaller({ tenant: 'acme', principal: 'key_1' }), 'hook');
    await world.later(DAY_MS);
    await world.add({ connectorId: 'hook', type: 'http', url });
    assert.deepEqual(
      (await world.deliveries('hook')).map(({ state, lastReason }) => [state, lastReason]),
      [['dead', 'connector_removed']],
    );
  });
});

test('the check says whether the server of a connector answers', async (t) => {
  const world = createWorld(t, await sqlite(t));
  const { url, got } = await webReceiver(t, () => 404);
  const person = personCaller({ tenant: 'acme', principal: 'key_1' });
  const check = async (connectorId: string) =>
    world.messaging.connectors.read(person, 'check', connectorId, {});
  await world.add({ connectorId: 'up', type: 'http', url });
  await world.add({ connectorId: 'down', type: 'http', url: 'http://127.0.0.1:2' });
  assert.deepEqual(await check('up'), { ok: true, detail: `${new URL(url).host} answers` });
  assert.match((await check('down')).detail, /No connection to 127\.0\.0\.1 could be made/);
  assert.equal(got.length, 0);
});

describe('rate limit', () => {
  test('no window holds more than its requests, whichever process sends', async (t) => {
    const world = createWorld(t, await sqlite(t));
    world.another();
    const sent: number[] = [];
    const { url } = await webReceiver(t, () => {
      sent.push(world.now());
      return 200;
    });
    await world.add({ connectorId: 'hook', type: 'http', url, rateLimit: { requests: 3, perSeconds: 60 } });
    for (let n = 0; n < 10; n++) await world.send('hook', { idempotencyKey: `k${n}` });
    // Arrivals are compared, so those of this moment must be in before the clock moves
    await world.later(0);
    for (let seconds = 0; seconds < 240; seconds += 10) await world.later(10_000);
    assert.equal(sent.length, 10);
    for (const [n, at] of sent.entries())
      assert.ok(n < 3 || at - (sent[n - 3] ?? 0) >= 60_000, `message ${n} came too early`);
    assert.ok((sent.at(-1) ?? 0) - (sent[0] ?? 0) <= 190_000, 'and none waits for longer than it has to');
  });
});

describe('mail', () => {
  const server = selfSigned({ dns: ['localhost'], ipv4: ['127.0.0.1'] });
  const tls = { key: server.key, cert: server.cert };
  const mail = { type: 'smtp', from: 'Ops <ops@example.com>' } as const;
  const letter = {
    channel: 'email',
    delivery: { conversationId: 'ada@example.org, bob@example.org', inReplyTo: '<a@b>' },
  };
  const known = getCACertificates();

  function trusting(t: TestContext): void {
    setDefaultCACertificates([...known, server.cert]);
    t.after(() => setDefaultCACertificates(known));
  }

  test('is encrypted, logged in and has the same Message-ID in every attempt', async (t) => {
    trusting(t);
    let refuse = true;
    const { port, url, got } = await mailReceiver(t, {
      ...tls,
      authOptional: false,
      onAuth: ({ username, password }, _, done) =>
        username === 'ops' && password === 'pa:ss' ? done(null, { user: 'ops' }) : done(new Error('no')),
      onRcptTo(_address, _session, done) {
        const later = Object.assign(new Error('greylisted'), { responseCode: 451 });
        done(refuse ? later : null);
        refuse = false;
      },
    });
    const world = createWorld(t, await sqlite(t), [port]);
    world.credentials.set('login', credential(`Basic ${Buffer.from('ops:pa:ss').toString('base64')}`));
    await world.add({ connectorId: 'mail', ...mail, url, credential: 'login' });
    const content = { text: 'Line one\nLine two' };
    const { deliveryId, platformMessageId } = await world.send('mail', { ...letter, content });
    assert.equal(platformMessageId, `<${deliveryId}@example.com>`);
    await world.later(0);
    await world.later(60_000);
    assert.deepEqual(
      got.map(({ from, to }) => [from, to]),
      [
        ['ops@example.com', ['bob@example.org']],
        ['ops@example.com', ['ada@example.org']],
      ],
      'who was refused for the moment gets it later, and the other not twice',
    );
    const [sent] = got;
    assert.deepEqual([sent?.secure, sent?.user], [true, 'ops']);
    for (const { text } of got)
      assert.match(text, new RegExp(`^Message-ID: <${deliveryId}@example.com>`, 'm'));
    assert.match(sent?.text ?? '', /^Subject: Line one\r?$/m);
    assert.match(sent?.text ?? '', /^In-Reply-To: <a@b>\r?$/m);
    assert.equal((await world.deliveries('mail'))[0]?.attempts, 2);
  });

  test('goes to no server without encryption, nor to one whose certificate nobody vouches for', async (t) => {
    const plain = await mailReceiver(t, { disabledCommands: ['STARTTLS'] });
    const strange = await mailReceiver(t, tls);
    const world = createWorld(t, await sqlite(t), [plain.port, strange.port]);
    for (const [connectorId, { url }] of Object.entries({ plain, strange })) {
      await world.add({ connectorId, ...mail, url });
      await world.send(connectorId, letter);
    }
    await world.later(0);
    for (const [connectorId, reason] of Object.entries({ plain: 'tls_failed', strange: 'connect_failed' }))
      assert.deepEqual(
        (await world.deliveries(connectorId)).map(({ state, lastReason }) => [state, lastReason]),
        [['pending', reason]],
        connectorId,
      );
    await world.add({ connectorId: 'relay', ...mail, url: plain.url, tls: 'none' });
    await world.send('relay', letter);
    await world.later(0);
    assert.deepEqual([plain.got.length, strange.got.length], [1, 0]);
  });

  test('a wrong login disconnects, and the check says so without sending', async (t) => {
    trusting(t);
    const { port, url, got } = await mailReceiver(t, {
      ...tls,
      onAuth: (_auth, _session, done) => done(new Error('no')),
    });
    const world = createWorld(t, await sqlite(t), [port]);
    world.credentials.set('login', credential(`Basic ${Buffer.from('ops:wrong').toString('base64')}`));
    await world.add({ connectorId: 'mail', ...mail, url, credential: 'login' });
    const person = personCaller({ tenant: 'acme', principal: 'key_1' });
    const check = await world.messaging.connectors.read(person, 'check', 'mail', {});
    assert.deepEqual([check.ok, /login_refused/.test(check.detail)], [false, true]);
    assert.match(check.next ?? '', /gantry credentials rotate/);
    await world.send('mail', letter);
    await world.later(0);
    await failsWith(world.send('mail', { ...letter, idempotencyKey: 'k2' }), 'connector_disconnected');
    assert.equal(got.length, 0);
  });

  test('recipients cannot bring headers, and a refused one is final', async (t) => {
    const { port, url } = await mailReceiver(t, {
      hideSTARTTLS: true,
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error('no such user'), { responseCode: 550 })),
    });
    const world = createWorld(t, await sqlite(t), [port]);
    await world.add({ connectorId: 'mail', ...mail, url, tls: 'none' });
    for (const conversationId of [
      'ada',
      'ada@example.org\r\nBcc: eve@example.org',
      'Ada <ada@example.org>',
      'a@b,,c@d',
    ])
      await failsWith(
        world.send('mail', { channel: 'email', delivery: { conversationId } }),
        'validation_error',
      );
    await world.send('mail', letter);
    await world.later(0);
    assert.deepEqual(
      (await world.deliveries('mail')).map(({ state, lastReason }) => [state, lastReason]),
      [['dead', 'recipient_refused']],
    );
  });
});
