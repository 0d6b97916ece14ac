/** Servers behind TLS, with certificates of a CA of our own. */
import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { ServerError } from './backend-errors.ts';
import { openNatsQueue } from './queue-nats/queue.ts';
import { openRedisDatabase } from './redis/connection.ts';
import { type Certificate, certificateSkip, createAuthority } from './testing/certificates.ts';
import { freshFolder } from './testing/data-dir.ts';
import { NATS, natsSkip } from './testing/nats.ts';
import { openPrivateRedis, privateRedisSkip } from './testing/redis.ts';
import { openPrivate, type ServerKind } from './testing/server-kind.ts';
import { freePort } from './testing/servers.ts';

const folder = freshFolder();
after(folder.remove);

const ours = certificateSkip ? null : createAuthority(folder.path, 'ours');
const strange = certificateSkip ? null : createAuthority(folder.path, 'strange');
ours?.trust();

const NAMES = { ip: 'IP:127.0.0.1', local: 'DNS:localhost' };
const sign = (authority: typeof ours, name: string, days?: number): Certificate => {
  assert.ok(authority);
  return authority.sign(name, days);
};

const refusal = (why: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ServerError && error.trouble === 'refused', String(error));
  assert.match(error.message, why);
  assert.doesNotMatch(error.message, /sesame/);
  assert.doesNotMatch(error.forPack().message, /127\.0\.0\.1/);
  return true;
};
const UNKNOWN = /an authority that this host does not know .*NODE_EXTRA_CA_CERTS, and start the host again/;
const OTHER_NAME = /a certificate for another name than that in the address/;
const EXPIRED = /a certificate that has expired \(CERT_HAS_EXPIRED\)/;

/** NATS reads the files anew when it starts. */
const nats = ({ cert, key }: Certificate): ServerKind => ({
  ...NATS,
  prepare: async (own) => {
    assert.ok(NATS.prepare);
    const recipe = await NATS.prepare(own);
    const address = new URL(recipe.url);
    Object.assign(address, { username: 'gantry', password: 'sesame' });
    return {
      ...recipe,
      url: address.href.replace('nats:', 'nats+tls:'),
      command: [
        ...recipe.command,
        '--tls',
        '--tlscert',
        cert,
        '--tlskey',
        key,
        '--user',
        'gantry',
        '--pass',
        'sesame',
      ],
    };
  },
});

const replace = (one: Certificate, by: Certificate): void => {
  copyFileSync(by.cert, one.cert);
  copyFileSync(by.key, one.key);
};

async function openNats(t: TestContext, certificate: Certificate) {
  const server = await openPrivate(nats(certificate));
  t.after(server.stop);
  const open = (url = server.url) => {
    const queue = openNatsQueue(url, { now: Date.now, report: () => {} });
    t.after(() => queue.close());
    return queue;
  };
  return { server, open };
}

describe('NATS behind TLS', { skip: certificateSkip || natsSkip }, () => {
  test('the certificate is that of the address, by IP address or by name', async (t) => {
    const byIp = await openNats(t, sign(ours, NAMES.ip));
    await byIp.open().health();
    const named = byIp.server.url.replace('127.0.0.1', 'localhost');
    await assert.rejects(byIp.open(named).health(), refusal(OTHER_NAME));
    const byName = await openNats(t, sign(ours, NAMES.local));
    await assert.rejects(byName.open().health(), refusal(OTHER_NAME));
    await byName.open(byName.server.url.replace('127.0.0.1', 'localhost')).health();
  });

  test('one that goes bad while the host runs is told, and heals when it is mended', async (t) => {
    const certificate = sign(ours, NAMES.ip);
    const good = { cert: join(folder.path, 'kept.pem'), key: join(folder.path, 'kept.key') };
    replace(good, certificate);
    const { server, open } = await openNats(t, certificate);
    const queue = open();
    await queue.health();
    for (const [bad, why] of [
      [sign(strange, NAMES.ip), UNKNOWN],
      [sign(ours, NAMES.ip, -1), EXPIRED],
    ] as const) {
      replace(certificate, bad);
      await server.kill();
      await server.start();
      await assert.rejects(queue.health(), refusal(why));
      await assert.rejects(open().health(), refusal(why));
    }
    replace(certificate, good);
    await server.kill();
    await server.start();
    await open().health();
    // It connects anew by itself; each look waits for that a moment
    for (let well = false; !well; )
      well = await queue.health().then(
        () => true,
        () => false,
      );
  });

  test('a server without TLS is told so', async (t) => {
    const server = await openPrivate(NATS);
    t.after(server.stop);
    const queue = openNatsQueue(server.url.replace('nats:', 'nats+tls:'), {
      now: Date.now,
      report: () => {},
    });
    t.after(() => queue.close());
    await assert.rejects(queue.health(), { trouble: 'refused for good', message: /does not speak TLS/ });
  });

  test('a right that the user lacks is a refusal that names it, and no missing topic', async (t) => {
    const config = join(folder.path, 'rights.conf');
    const limited = (user: string, publish: string, subscribe: string): string =>
      `{ user: ${user}, password: sesame, permissions: { publish: [${publish}], subscribe: [${subscribe}] } }`;
    const users = [
      limited('none', '"a"', '">"'),
      limited('api', '"$JS.API.INFO"', '">"'),
      limited('deaf', '">"', '"a"'),
      limited('enough', '"$JS.API.>", "$JS.ACK.>", "gantry.queue.>"', '"_INBOX.>"'),
    ];
    writeFileSync(config, `authorization { users: [${users.join()}] }`);
    const server = await openPrivate({
      ...NATS,
      prepare: async (own) => {
        assert.ok(NATS.prepare);
        const recipe = await NATS.prepare(own);
        return { ...recipe, command: [...recipe.command, '-c', config] };
      },
    });
    t.after(server.stop);
    const open = (user: string) => {
      const queue = openNatsQueue(server.url.replace('//', `//${user}:sesame@`), {
        now: Date.now,
        report: () => {},
      });
      t.after(() => queue.close());
      return queue;
    };
    const cases = {
      none: 'publish to $JS.API.INFO.',
      api: 'publish to $JS.API.STREAM.CREATE.>.',
      deaf: 'subscribe to _INBOX.>.',
    };
    for (const [user, right] of Object.entries(cases))
      await assert.rejects(open(user).health(), (error: unknown) => {
        assert.ok(error instanceof ServerError && error.trouble === 'refused for good', String(error));
        assert.ok(error.message.includes(`does not let the user ${right}`), error.message);
        return true;
      });
    await open('enough').health();
  });
});

const tlsRedis = ({ cert, key }: Certificate, port: number) =>
  openPrivateRedis(
    '--tls-port',
    String(port),
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    cert,
    '--tls-auth-clients',
    'no',
  );

describe('Redis behind TLS', { skip: certificateSkip || privateRedisSkip }, () => {
  const openRedis = (t: TestContext, url: string) => {
    const database = openRedisDatabase({ url });
    t.after(database.close);
    return database;
  };

  test('each certificate that is not good is a refusal with what to do', async (t) => {
    const cases = [
      [sign(ours, NAMES.local), OTHER_NAME],
      [sign(strange, NAMES.ip), UNKNOWN],
      [sign(ours, NAMES.ip, -1), EXPIRED],
    ] as const;
    for (const [certificate, why] of cases) {
      const port = await freePort();
      const server = await tlsRedis(certificate, port);
      t.after(server.stop);
      await assert.rejects(openRedis(t, `rediss://127.0.0.1:${port}`).health('volatile'), refusal(why));
    }
    const port = await freePort();
    const server = await tlsRedis(sign(ours, NAMES.ip), port);
    t.after(server.stop);
    await openRedis(t, `rediss://127.0.0.1:${port}`).health('durable');
    const plain = openRedis(t, `redis://127.0.0.1:${port}`);
    await assert.rejects(
      plain.health('volatile'),
      /\(ECONNRESET, which may also be because only one side speaks TLS\)/,
    );
  });

  test('one that goes bad while the host runs is told, and heals when it is mended', async (t) => {
    const [port, certificate] = [await freePort(), sign(ours, NAMES.ip)];
    const good = { cert: join(folder.path, 'good.pem'), key: join(folder.path, 'good.key') };
    replace(good, certificate);
    const server = await tlsRedis(certificate, port);
    t.after(server.stop);
    const database = openRedis(t, `rediss://127.0.0.1:${port}`);
    await database.health('volatile');
    replace(certificate, sign(ours, NAMES.ip, -1));
    await server.kill();
    await server.start();
    await assert.rejects(database.health('volatile'), refusal(EXPIRED));
    replace(certificate, good);
    await server.kill();
    await server.start();
    await assert.doesNotReject(database.health('volatile'));
  });
});
