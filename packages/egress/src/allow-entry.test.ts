import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAllowList } from './allow-entry.ts';

test('entries have a purpose, a tenant, a scheme, a host or range and a port', () => {
  const list =
    'webhook=https://hooks.corp.example, raw-fetch@acme=http://10.20.0.0/16:8080 ,mcp=https://[fd00::/8]:*,';
  const read = readAllowList(list).map(({ host, ...entry }) => ({ ...entry, kind: host.kind }));
  assert.deepEqual(read, [
    { purpose: 'webhook', tenant: 'default', scheme: 'https', port: 443, kind: 'name' },
    { purpose: 'raw-fetch', tenant: 'acme', scheme: 'http', port: 8080, kind: 'range' },
    { purpose: 'mcp', tenant: 'default', scheme: 'https', port: '*', kind: 'range' },
  ]);
  assert.deepEqual(readAllowList(), []);
});

test('an entry that cannot be read is refused, and what is wrong with it is named', () => {
  const wrong: Readonly<Record<string, RegExp>> = {
    'https://10.0.0.1': /has the form of webhook=/,
    'webhok=https://10.0.0.1': /"webhok" is not a purpose; use one of webhook, registry,/,
    'webhook@=https://10.0.0.1': /tenant after @ is missing/,
    'webhook=ftp://10.0.0.1': /"ftp" is not a scheme/,
    'webhook=10.0.0.1': /has the form/,
    'webhook=https://': /"" is not a name/,
    'webhook=https://10.0.0.256': /"10\.0\.0\.256" is not a name/,
    'webhook=https://127.1': /"127\.1" is not a name/,
    'webhook=https://a_*.example': /"a_\*\.example" is not a name/,
    'webhook=https://hooks.example/16': /is not a name/,
    'webhook=https://10.0.0.0/33': /"\/33" is not a prefix length; use 0 to 32/,
    'webhook=https://[fd00::]/8': /has the form/,
    'webhook=https://[fd00::/129]': /use 0 to 128/,
    'webhook=https://10.0.0.1:0': /"0" is not a port/,
    'webhook=https://10.0.0.1:65536': /"65536" is not a port/,
    'webhook=https://10.0.0.1:443/path': /"443\/path" is not a port.*leave out paths/,
    'webhook=https://169.254.0.0/16': /only one by one, by exact address/,
    'webhook=https://[fe80::/10]': /only one by one/,
    'webhook=https://metadata.google.internal': /metadata service.*exact address/,
  };
  for (const [entry, words] of Object.entries(wrong))
    assert.throws(
      () => readAllowList(`webhook=https://ok.example,${entry}`),
      (error: Error) => {
        assert.match(error.message, words);
        assert.ok(error.message.startsWith(`GANTRY_EGRESS_ALLOW: in "${entry}", `), error.message);
        return true;
      },
    );
});
