/** For tests: a server with the routes of sample resources only, and a key for each of two tenants. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { type Api, createServer, hashSecret, type Idempotency } from '@gantry/http';
import { SCOPES } from '@gantry/protocol';
import { Changes, type ResourceService } from '@gantry/resources';
import { CommitPipeline, openSqlite } from '@gantry/store';
import type { InjectOptions } from 'fastify';
import { pino } from 'pino';
import { freshFolder } from '../../../../store/src/testing/data-dir.ts';

type Of = ConstructorParameters<typeof ResourceService>[1];

export async function resourceServer(
  t: TestContext,
  routes: (app: Api, options: Of & { services: undefined }, idempotency: Idempotency) => void,
) {
  const folder = freshFolder();
  const store = await openSqlite({ dataDir: folder.path });
  t.after(async () => {
    await store.close();
    folder.remove();
  });
  const { app, idempotency } = createServer({
    store,
    now: Date.now,
    randomBytes,
    log: pino({ level: 'silent' }),
    access: {},
    maxRequestBodyBytes: 1_048_576,
  });
  const changes = new Changes({ store, pipeline: new CommitPipeline(store), now: Date.now, randomBytes });
  routes(app, { changes, entries: store.entries, now: Date.now, services: undefined }, idempotency);
  await app.ready();
  const dates = { createdAt: Date.now(), expiresAt: null, revokedAt: null };
  for (const name of ['acme', 'other']) {
    const record = {
      keyId: `key_${name}`,
      principal: `principal_${name}`,
      tenant: name,
      workspace: 'default',
      name,
      hash: hashSecret(name),
      scopes: SCOPES,
      ...dates,
    };
    await store.commit([[{ kind: 'putKey', record }]]);
  }
  const send = (
    method: NonNullable<InjectOptions['method']>,
    url: string,
    payload?: InjectOptions['payload'],
    headers: Readonly<Record<string, string>> = {},
  ) =>
    app.inject({
      method,
      url: `/v1/host/gantry${url}`,
      headers: { authorization: 'Bearer acme', ...headers },
      ...(payload !== undefined && { payload }),
    });
  return { store, send };
}
