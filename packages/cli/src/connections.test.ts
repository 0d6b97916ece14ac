import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredArchive } from '../../host/src/packs/connections/testing/declared-archive.ts';
import { realHost, type Said } from './testing/real-host.ts';

const SECRET = 'a-client-secret-CANARY-5d1f';

function ok(said: Said): string {
  assert.equal(said.code, 0, said.err);
  for (const text of [said.out, said.err]) assert.ok(!text.includes(SECRET), text);
  return said.out;
}

const provider = {
  id: 'acme',
  displayName: 'Acme',
  category: 'crm',
  auth: {
    kind: 'oauth2',
    endpoints: { authorize: 'https://acme.example/authorize', token: 'https://acme.example/token' },
  },
  reach: { integration: { node: 'vendor.acme.call' } },
};

test('connections: configured, begun and listed, each with what to do next', async (t) => {
  const host = await realHost(t, [], { settings: { publicUrl: 'https://gantry.example' } });
  const { service } = host.services.packs;
  const archive = await declaredArchive({ name: 'vendor.acme.connection', kind: 'connection', provider });
  const { view } = await service.install({
    tenant: 'default',
    archive,
    development: false,
    grant: [],
    by: 'test',
  });
  assert.match(view.warnings.join(), /Nobody can connect acme: no OAuth client is configured/);
  assert.match(ok(await host.gantry('connections')), /^No connections yet/);
  const unconfigured = await host.gantry('connections', 'connect', 'acme');
  assert.match(
    unconfigured.err,
    /No client is configured for Acme.*gantry connections configure acme --client-id ID/,
  );
  const missing =
    /warn +connection +Nobody can connect acme: no OAuth client is configured\.\n.*configure acme --client-id ID/;
  assert.match((await host.gantry('doctor')).out, missing);
  const configure = ['connections', 'configure', 'acme'];
  assert.match((await host.piping(SECRET, ...configure)).err, /--client-id is the id/);
  const configured = ok(await host.piping(SECRET, ...configure, '--client-id', '4711'));
  assert.match(
    configured,
    /Register this redirect URI at the provider: http.*\/authorize\/callback\/acme\n$/,
  );
  assert.doesNotMatch((await host.gantry('doctor')).out, missing);
  assert.match(ok(await host.gantry('connections', 'clients')), /acme +4711 +yes +http/);
  assert.match(
    ok(await host.gantry('connections', 'connect', 'acme')),
    /^Open this address in your browser before 2.*:\nhttp.*\/v1\/host\/gantry\/authorize\/\S+\n$/,
  );
  assert.match(
    (await host.gantry('connections', 'connect', 'acme', '--write')).err,
    /Connect acme for reading first/,
  );
  assert.equal(ok(await host.gantry('connections', 'unconfigure', 'acme')), 'acme removed\n');
});
