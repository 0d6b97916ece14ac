/** Every URL of the corpus as a webhook, a registry, its key set and media of a message: nothing is ever connected to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEgress, type Egress, EgressError, PUBLIC_POLICY } from '@gantry/egress';
import { openHttpRegistry } from '@gantry/packs';
import { ALLOWED, REFUSED } from '../../../egress/src/testing/corpus.ts';
import { watchSockets } from '../../../egress/src/testing/sockets.ts';
import { withMedia } from '../ai/media-input.ts';

type Path = (egress: Egress, url: string) => Promise<unknown>;

const tenant = 'acme';

const PATHS: Readonly<Record<string, Path>> = {
  webhook: async (egress, url) => {
    const problem = await egress.check(url, { tenant });
    await assert.rejects(egress.request(url, { method: 'POST', body: '{}', tenant }), EgressError);
    if (problem) throw new EgressError(problem);
  },
  registry: (egress, url) => openHttpRegistry({ url, egress }).index('vendor.acme.tools'),
  'key set': (egress, url) => openHttpRegistry({ url, egress }).keys('vendor.acme.tools'),
  media(egress, url) {
    const { signal } = new AbortController();
    const none = { idOf: async () => undefined, read: async () => null };
    const terms = { egress, tenant, media: none, modalities: ['image'] as const, signal };
    return withMedia([{ content: [{ type: 'image', url }] }], terms);
  },
};

/** Public names that lead inside: at once, beside a public answer, or after a first public answer. */
const INSIDE = [
  '10.0.0.7',
  '127.0.0.1',
  '169.254.169.254',
  '::1',
  'fd00:ec2::254',
  '::ffff:192.168.0.1',
  '0.0.0.0',
];
const isName = (url: string): boolean => /[a-z]\.[a-z]/i.test(new URL(url).hostname);

for (const [name, path] of Object.entries(PATHS)) {
  test(`${name}: no URL of the corpus connects`, async (t) => {
    const sockets = watchSockets(t);
    const policy = PUBLIC_POLICY;
    const closed = createEgress({ policy, lookup: async () => ['10.0.0.7'] });
    for (const url of Object.values(REFUSED).flat())
      await assert.rejects(path(closed, url), `${name} ${url}`);
    for (const url of ALLOWED.filter(isName))
      for (const address of INSIDE)
        for (const answer of [[address], ['93.184.215.14', address]]) {
          const egress = createEgress({ policy, lookup: async () => answer });
          await assert.rejects(path(egress, url), `${url} at ${answer}`);
        }
    assert.deepEqual([...sockets.all], []);
  });
}

test('a name that was public when it was registered does not connect when it leads inside', async (t) => {
  const sockets = watchSockets(t);
  for (const address of INSIDE) {
    const answers = [['93.184.215.14'], [address]];
    const policy = { purpose: 'webhook', allow: [] } as const;
    const egress = createEgress({ policy, lookup: async () => answers.shift() ?? [] });
    assert.equal(await egress.check('https://rebind.example/'), undefined);
    await assert.rejects(egress.request('https://rebind.example/'), { reason: 'address_not_allowed' });
  }
  assert.deepEqual([...sockets.all], []);
});
