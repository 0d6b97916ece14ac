import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Provider } from '@gantry/packs';
import fc from 'fast-check';
import { consentPlan, egressVerdict, type InstalledProvider, resolveProvider } from './provider.ts';

const group = (key: string) => ({ key, label: key, scopes: [`scope:${key}`] });
const acme: Provider = {
  id: 'acme',
  displayName: 'Acme',
  category: 'crm',
  auth: { kind: 'oauth2', scopeModel: 'groups', scopes: { read: [group('look')], write: [group('act')] } },
  reach: { integration: { node: 'vendor.acme.call' } },
  apiHosts: ['acme.example', 'api.other.example'],
};
const installed = (packName: string, version = '1.0.0', shared = false): InstalledProvider => ({
  packName,
  version,
  shared,
  provider: acme,
});

test('a pack describes a provider unless the host knows a newer description', () => {
  assert.deepEqual(resolveProvider([]), { source: 'none', code: 'connection_provider_unresolved' });
  assert.deepEqual(resolveProvider([], '1.0.0'), { source: 'builtin', version: '1.0.0' });
  for (const version of ['1.0.0', '1.0.1', '2.0.0-alpha'])
    assert.equal(resolveProvider([installed('vendor.a.x', version)], '1.0.0').source, 'pack', version);
  for (const version of ['1.0.0-alpha.1', '0.9.9'])
    assert.deepEqual(resolveProvider([installed('vendor.a.x', version)], '1.0.0'), {
      source: 'none',
      code: 'connection_provider_conflict',
      packs: [`vendor.a.x@${version}`],
    });
});

test('two packs for one provider are a conflict; own ones come before shared ones', () => {
  const rivals = resolveProvider([installed('vendor.a.x'), installed('vendor.b.x', '2.0.0')]);
  assert.deepEqual('packs' in rivals && rivals.packs, ['vendor.a.x@1.0.0', 'vendor.b.x@2.0.0']);
  const last = installed('vendor.a.x', '1.0.0');
  const versions = [last, installed('vendor.a.x', '2.0.0')];
  assert.deepEqual(resolveProvider(versions), { source: 'pack', installed: last });
  const own = [installed('vendor.a.x'), installed('vendor.b.x', '9.0.0', true)];
  assert.deepEqual(resolveProvider(own), { source: 'pack', installed: own[0] });
});

test('writing is consented to on its own, after reading', () => {
  const [read, write, ...more] = consentPlan(acme, ['write', 'read']);
  assert.deepEqual([read?.includesWrite, write?.includesWrite, more.length], [false, true, 0]);
  assert.deepEqual(read?.groups, [{ ...group('look'), access: 'read' }]);
  assert.deepEqual(write?.groups, [{ ...group('act'), access: 'write' }]);
  assert.equal(consentPlan(acme, ['read']).length, 1);
  const coarse: Provider = { ...acme, auth: { kind: 'oauth2', scopeModel: 'capabilities' } };
  assert.deepEqual(consentPlan(coarse, ['read', 'write']), [{ includesWrite: false, groups: [] }]);
  assert.deepEqual(consentPlan({ ...acme, auth: { kind: 'api_key' } }, ['read']), []);
});

test('credentials go to listed hosts and below them, and nowhere else', () => {
  for (const host of ['acme.example', 'eu.acme.example', 'A.B.ACME.example', 'api.other.example'])
    assert.deepEqual(egressVerdict(acme, host), { allowed: true }, host);
  const strangers = ['notacme.example', 'acme.example.evil.example', 'other.example', 'evil.example', ''];
  const tricks = ['acme.example:8443', 'acme.example.', 'acme.example@evil.example', 'xacme.example', '.'];
  for (const host of [...strangers, ...tricks])
    assert.deepEqual(egressVerdict(acme, host), { allowed: false, code: 'egress_host_not_allowed' }, host);
  const { apiHosts: _, ...silent } = acme;
  assert.deepEqual(egressVerdict(silent, 'acme.example'), { allowed: false, code: 'no_api_hosts' });
});

test('what is allowed ends with a listed name at a dot', () => {
  fc.assert(
    fc.property(fc.domain(), fc.domain(), (listed, host) => {
      const { allowed } = egressVerdict({ ...acme, apiHosts: [listed.toLowerCase()] }, host);
      const labels = (name: string) => name.toLowerCase().split('.').reverse();
      assert.equal(
        allowed,
        labels(listed).every((label, index) => labels(host)[index] === label),
      );
    }),
  );
});
