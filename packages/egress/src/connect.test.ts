import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { pinnedAddress } from './connect.ts';
import { PUBLIC_POLICY } from './policy.ts';
import { judgeName } from './target.ts';
import { selfSigned } from './testing/certificate.ts';
import { failsWith, fakeLookup, LOOPBACK_POLICY, loopbackEgress, textOf } from './testing/egress.ts';
import { httpsServer, rawServer } from './testing/server.ts';

const lookup = fakeLookup({ 'hook.example': ['127.0.0.1'], 'wrong.example': ['127.0.0.1'] });
const egress = loopbackEgress(lookup);
const trusted = selfSigned({ dns: ['hook.example'], ipv4: ['127.0.0.1'] });
const expired = selfSigned({ dns: ['hook.example'], expired: true });

const showServerName: RequestListener = (request, response) => {
  response.end(`${(request.socket as TLSSocket).servername}`);
};

describe('TLS', () => {
  const known = getCACertificates();
  before(() => setDefaultCACertificates([...known, trusted.cert, expired.cert]));
  after(() => setDefaultCACertificates(known));

  test('names the host of the URL, not the pinned address', async (t) => {
    const port = await httpsServer(t, trusted, showServerName);
    assert.equal(textOf((await egress.request(`https://hook.example:${port}/`)).body), 'hook.example');
    assert.equal(textOf((await egress.request(`https://hook.example.:${port}/`)).body), 'hook.example');
  });

  test('accepts an address that the certificate names, and sends no name for it', async (t) => {
    const port = await httpsServer(t, trusted, showServerName);
    assert.equal(textOf((await egress.request(`https://127.0.0.1:${port}/`)).body), 'false');
  });

  test('refuses a certificate for another name, and sends nothing', async (t) => {
    let hits = 0;
    const port = await httpsServer(t, trusted, () => {
      hits += 1;
    });
    const error = await failsWith(egress.request(`https://wrong.example:${port}/?SECRET`), 'tls_failed');
    assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID');
    assert.equal(error.sent, false);
    assert.doesNotMatch(error.message, /SECRET/);
    assert.equal(hits, 0);
  });

  test('refuses a certificate that nobody vouches for or that has ended', async (t) => {
    const stranger = await httpsServer(t, selfSigned({ dns: ['hook.example'] }), showServerName);
    const late = await httpsServer(t, expired, showServerName);
    const unknown = await failsWith(egress.request(`https://hook.example:${stranger}/`), 'tls_failed');
    assert.equal(unknown.code, 'DEPTH_ZERO_SELF_SIGNED_CERT');
    const ended = await failsWith(egress.request(`https://hook.example:${late}/`), 'tls_failed');
    assert.equal(ended.code, 'CERT_HAS_EXPIRED');
  });

  test('is not switched off by the environment', async (t) => {
    const port = await httpsServer(t, selfSigned({ dns: ['hook.example'] }), showServerName);
    const set = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    t.after(() => {
      if (set === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = set;
    });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    await failsWith(egress.request(`https://hook.example:${port}/`), 'tls_failed');
  });

  test('is not spoken by everyone', async (t) => {
    const port = await rawServer(t, (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await failsWith(egress.request(`https://hook.example:${port}/`), 'tls_failed');
  });

  test('a handshake that never ends ends at the deadline', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const port = await rawServer(t, (socket) => socket.once('data', () => t.mock.timers.tick(5000)));
    const work = egress.request(`https://hook.example:${port}/`, { timeoutMs: 5000 });
    assert.equal((await failsWith(work, 'timeout')).sent, false);
  });
});

test('C2: only a checked address counts as the other end, in any spelling', () => {
  const addresses = ['127.0.0.1', '2606:4700::1', '::ffff:7f00:1'];
  const at = (remote: string | undefined, policy = LOOPBACK_POLICY) => {
    const judgement = judgeName('hook.example', policy);
    assert.ok(judgement.allowed);
    return pinnedAddress(remote, addresses, judgement.target);
  };
  assert.equal(at('127.0.0.1'), '127.0.0.1');
  assert.equal(at('2606:4700:0:0::1'), '2606:4700::1');
  assert.equal(at('::ffff:127.0.0.1'), '::ffff:7f00:1');
  assert.equal(at('127.0.0.2'), undefined);
  assert.equal(at('169.254.169.254'), undefined);
  assert.equal(at(undefined), undefined);
  assert.equal(at('127.0.0.1', PUBLIC_POLICY), undefined);
});
