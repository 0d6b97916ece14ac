import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { EgressCredential } from './audience.ts';
import { loopbackEgress, textOf } from './testing/egress.ts';
import { httpServer } from './testing/server.ts';

const carrying = (value: string, renew?: EgressCredential['renew']): EgressCredential => ({
  provenance: { credentialId: 'acme', issuer: 'acme', audiences: ['127.0.0.1'] },
  header: 'authorization',
  value,
  ...(renew && { renew }),
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

test('a credential that is refused is renewed once, and the request is sent again as it was', async (t) => {
  const seen: string[] = [];
  const port = await httpServer(t, async (request, response) => {
    const { authorization = '' } = request.headers;
    seen.push(`${authorization} ${await bodyOf(request)}`);
    response.writeHead(authorization === 'new' ? 200 : 401).end('said');
  });
  const url = `http://127.0.0.1:${port}/`;
  const egress = loopbackEgress();
  let renewals = 0;
  const renew = async (value: string): Promise<EgressCredential> => {
    renewals++;
    return carrying(value, () => renew('never'));
  };
  const send = { method: 'POST', body: 'hello' };
  const good = await egress.request(url, { ...send, credential: carrying('old', () => renew('new')) });
  assert.deepEqual([good.status, seen.splice(0)], [200, ['old hello', 'new hello']]);
  const bad = await egress.stream(url, { ...send, credential: carrying('old', () => renew('bad')) });
  assert.equal(bad.status, 401);
  assert.equal(textOf(new Uint8Array(await new Response(bad.body).arrayBuffer())), 'said');
  assert.deepEqual([renewals, seen.splice(0)], [2, ['old hello', 'bad hello']]);
  assert.equal((await egress.request(url, { ...send, credential: carrying('old') })).status, 401);
  egress.close();
});

test('a refusal of another origin renews nothing, since it did not get the credential', async (t) => {
  const elsewhere = await httpServer(t, (_request, response) => response.writeHead(401).end());
  const port = await httpServer(t, (_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${elsewhere}/` }).end(),
  );
  const egress = loopbackEgress();
  const credential = carrying('old', () => assert.fail('renewed'));
  const answer = await egress.request(`http://127.0.0.1:${port}/`, { credential, redirects: 1 });
  assert.equal(answer.status, 401);
  egress.close();
});
