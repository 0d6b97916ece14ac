import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CredentialProvenance, decideEgress, type EgressDecision, isAudience } from './audience.ts';
import { egressFetch } from './fetch.ts';
import { failsWith, fakeLookup, loopbackEgress } from './testing/egress.ts';
import { httpServer } from './testing/server.ts';

const NOW = Date.UTC(2030, 0, 1);
const provenance = (more: Partial<CredentialProvenance> = {}): CredentialProvenance => ({
  credentialId: 'stripe',
  issuer: 'host',
  audiences: ['api.example', '*.corp.example'],
  ...more,
});
const decide = (url: string, of: CredentialProvenance | null = provenance()) =>
  decideEgress(of, new URL(url), NOW);

describe('the decision', () => {
  test('exact hosts and suffixes are audiences, and nothing else is', () => {
    for (const url of ['https://api.example/', 'https://API.example:8443/x?q', 'https://a.b.corp.example/'])
      assert.equal(decide(url).decision, 'allowed', url);
    for (const url of [
      'https://corp.example/',
      'https://evilcorp.example/',
      'https://api.example.evil.test/',
      'https://x.api.example/',
      'https://api.example@evil.test/',
    ])
      assert.deepEqual([decide(url).decision, decide(url).reason], ['denied', 'out-of-audience'], url);
  });

  test('what cannot be judged, and what has expired, is denied', () => {
    const unevaluable = [null, [], ['*'], ['*.com'], ['a.*.example'], ['/api/'], ['api.example/x'], ['']];
    for (const audiences of unevaluable) {
      const of = audiences && provenance({ audiences });
      assert.equal(decide('https://api.example/', of).reason, 'provenance-unevaluable', `${audiences}`);
    }
    const at = (expiresAt: string) => decide('https://api.example/', provenance({ expiresAt }));
    assert.equal(at('2029-12-31T23:59:59Z').reason, 'expired');
    assert.equal(at('2030-01-01T00:00:01Z').decision, 'allowed');
    assert.equal(at('soon').reason, 'provenance-unevaluable');
  });

  test('hosts of the API narrow the audiences; the operator may send without the credential', () => {
    const url = new URL('https://a.corp.example/');
    const { decision } = decideEgress(provenance(), url, NOW, { apiHosts: ['corp.example'] });
    assert.equal(decision, 'allowed');
    assert.equal(decideEgress(provenance(), url, NOW, { apiHosts: ['api.example'] }).decision, 'denied');
    const other = new URL('https://other.example/');
    const policy = { outOfAudience: 'downgrade' } as const;
    assert.equal(decideEgress(provenance(), other, NOW, policy).decision, 'downgraded');
  });

  test('it has the authority alone', () => {
    assert.deepEqual(decide('https://api.example:8443/path?secret=1#x'), {
      decision: 'allowed',
      destination: 'api.example:8443',
      credentialId: 'stripe',
      reason: 'ok',
    });
  });

  test('audiences', () => {
    for (const text of ['api.example', 'localhost', '127.0.0.1', '[::1]', '*.example.com'])
      assert.ok(isAudience(text), text);
    for (const text of ['API.example', 'api.example:1', 'https://a', '*.*.a.b', '**.a.b', '*', 'a b', '-a'])
      assert.ok(!isAudience(text), text);
  });
});

const lookup = fakeLookup({ 'api.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] });

async function carrier(t: Parameters<typeof httpServer>[0]) {
  const seen: string[] = [];
  const port = await httpServer(t, (request, response) => {
    seen.push(`${request.headers.host?.split(':')[0]}${request.url} ${request.headers['x-api-key']}`);
    const location = decodeURIComponent(request.url?.split('?')[1] ?? '');
    if (location) response.writeHead(302, { location });
    response.end();
  });
  const decisions: EgressDecision[] = [];
  const terms = (more: Partial<CredentialProvenance> = {}) => ({
    credential: { provenance: provenance(more), header: 'X-Api-Key', value: 'sk_live_1234' },
    onDecision: (decision: EgressDecision) => void decisions.push(decision),
  });
  const said = () => decisions.map(({ decision, reason }) => `${decision} ${reason}`);
  return { port, seen, terms, said };
}

describe('a request with a credential', () => {
  test('has it in its header, in place of one that was given', async (t) => {
    const { port, seen, terms, said } = await carrier(t);
    const fetched = egressFetch(loopbackEgress(lookup), terms());
    await fetched(`http://api.example:${port}/`, { headers: { 'x-api-key': 'placeholder' } });
    assert.deepEqual(seen, ['api.example/ sk_live_1234']);
    assert.deepEqual(said(), ['allowed ok']);
  });

  test('is not sent to another audience, after its end or without provenance', async (t) => {
    const { port, seen, terms, said } = await carrier(t);
    const egress = loopbackEgress(lookup);
    const wrong = [
      [`http://other.example:${port}/`, {}],
      [`http://api.example:${port}/`, { expiresAt: '2001-01-01T00:00:00Z' }],
      [`http://api.example:${port}/`, { audiences: [] }],
    ] as const;
    for (const [url, more] of wrong) {
      const error = await failsWith(egress.request(url, terms(more)), 'credential_not_allowed');
      assert.ok(!error.sent && !error.message.includes('sk_live'));
    }
    assert.deepEqual(seen, []);
    assert.deepEqual(said(), ['denied out-of-audience', 'denied expired', 'denied provenance-unevaluable']);
  });

  test('is decided on where the address is refused or not found', async (t) => {
    const { terms, said } = await carrier(t);
    const egress = loopbackEgress(lookup);
    const audiences = ['169.254.169.254', 'missing.example'];
    await failsWith(egress.request('http://169.254.169.254/', terms({ audiences })), 'address_not_allowed');
    await failsWith(egress.request('http://missing.example/', terms({ audiences })), 'resolve_failed');
    assert.deepEqual(said(), ['denied ssrf-blocked', 'allowed ok']);
  });

  test('is judged again at each redirect, and goes to its first origin until it leaves that', async (t) => {
    const { port, seen, terms, said } = await carrier(t);
    const back = encodeURIComponent(`http://api.example:${port}/back`);
    const away = encodeURIComponent(`http://other.example:${port}/away?${back}`);
    const url = `http://api.example:${port}/one?${encodeURIComponent(`/two?${away}`)}`;
    await loopbackEgress(lookup).request(url, { ...terms(), redirects: 5 });
    assert.deepEqual(
      seen.map((line) => line.replace(/\?\S*/, '')),
      [
        'api.example/one sk_live_1234',
        'api.example/two sk_live_1234',
        'other.example/away undefined',
        'api.example/back undefined',
      ],
    );
    assert.deepEqual(said(), ['allowed ok', 'allowed ok']);
  });
});
