import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hostedBlobs } from '../capabilities/blob/hosted-blobs.ts';
import { blobContract, bytesOf } from '../ports/blobs-contract.ts';
import { followed, hostedBlobContract, object, TEST_LINKS } from '../ports/hosted-blobs-contract.ts';
import { read, write } from '../testing/calls.ts';
import { openTestPostgres, postgresSkip } from '../testing/postgres.ts';
import { postgresObjects } from './blobs.ts';
import { sweepPostgres } from './sweep.ts';

async function openIn(quotaBytes: number, now: () => number = Date.now) {
  const { database, close } = await openTestPostgres();
  const port = hostedBlobs(postgresObjects(database, { quotaBytes, now }), TEST_LINKS);
  return {
    port,
    close,
    contents: () =>
      database.read(async (sql) => {
        const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from blob_contents`;
        return row!.count;
      }),
    sweep: (at: number) => sweepPostgres(database, { now: at, recordedBefore: 0 }),
  };
}

describe('objects in PostgreSQL', { skip: postgresSkip }, () => {
  blobContract('PostgreSQL', async () => {
    const opened = await openIn(10_000_000);
    return { ...opened, follow: (method, url, body) => followed(opened.port, method, url, body) };
  });

  hostedBlobContract('PostgreSQL', async (t, quotaBytes) => {
    const opened = await openIn(quotaBytes);
    t.after(opened.close);
    return opened;
  });

  test('what a process sent that died is swept; an upload that goes on is kept, one that stops for long is refused', async (t) => {
    let now = 1_000_000;
    const { port, contents, sweep, close } = await openIn(100_000_000, () => now);
    t.after(close);
    await port.put(object('old'), write('acme'));
    const link = { bucket: 'artifacts', key: 'k', method: 'PUT', seconds: 3_600 } as const;
    const url = (await port.presign(link, read('acme', now))).replace('http://host.test', '');
    const upload = async (pauseMs: number): Promise<unknown> => {
      const body = async function* () {
        for (let part = 0; part < 4; part++) {
          yield new Uint8Array(1_048_576).fill(part);
          now += pauseMs;
          await sweep(now);
        }
      };
      return port.servePresigned({ method: 'PUT', url, body: body(), now: 1_000_000 });
    };
    await assert.rejects(upload(601_000), { code: 'storage_unavailable', message: /Send it again/ });
    assert.equal(await contents(), 1);
    assert.deepEqual((await port.get(object(''), read('acme')))?.bytes, bytesOf('old'));
    await upload(500_000);
    assert.equal((await port.get(object(''), read('acme')))?.bytes.byteLength, 4_194_304);
    assert.equal(await contents(), 1);
  });

  test('puts of two processes at once stay within the quota of the tenant', async (t) => {
    const { port, close } = await openIn(500_000);
    t.after(close);
    const large = (key: string) => ({ ...object('', key), bytes: new Uint8Array(200_000) });
    const puts = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((key) => port.put(large(key), write('acme'))),
    );
    assert.equal(puts.filter(({ status }) => status === 'fulfilled').length, 2);
  });
});
