import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import type { Facts } from '../testing/memory-catalogue.ts';
import { elements, nodePack } from '../testing/pack-page.ts';
import { packArchive, readServer, sampleCatalogue } from '../testing/read-server.ts';

test('pages allow no script and nothing from elsewhere, and answer 304', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  for (const url of [
    '/',
    '/?q=text',
    '/packs/vendor.gantry.text',
    '/packs/vendor.gantry.text/1.0.0',
    '/packs/none',
  ]) {
    const { headers, body } = await app.inject(url);
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*form-action 'self'.*base-uri 'none'/,
    );
    assert.equal(headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.ok(!elements(body).has('script'), url);
    assert.doesNotMatch(body, /(src|action|href)="(https?:)?\/\//, url);
    const again = await app.inject({ url, headers: { 'if-none-match': String(headers.etag) } });
    assert.deepEqual([again.statusCode, again.body], [304, ''], url);
  }
});

test('the style is where the page says, and may be kept for good', async (t) => {
  const app = await readServer(t, await sampleCatalogue([]));
  const { body } = await app.inject('/');
  const href = /<link rel="stylesheet" href="([^"]+)"/.exec(body)?.[1];
  const style = await app.inject(href ?? '');
  assert.equal(style.headers['content-type'], 'text/css; charset=utf-8');
  assert.match(String(style.headers['cache-control']), /immutable/);
  assert.equal((await app.inject('/assets/constructor')).statusCode, 404);
});

test('a page says what a pack does, asks for and needs', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  const check = (await app.inject('/packs/vendor.gantry.http-check')).body;
  assert.match(check, /Send requests to public addresses on the internet/);
  assert.match(check, /gantry pack install vendor\.gantry\.http-check@1\.0\.0/);
  assert.match(check, /GANTRY_PACKS=vendor\.gantry\.http-check@1\.0\.0/);
  const text = (await app.inject('/packs/vendor.gantry.text/1.0.0')).body;
  assert.match(text, /No platform access\. Its code only processes its inputs/);
  assert.match(
    text,
    /<code>template<\/code><\/th><td data-label="Type">string<\/td><td data-label="Required">yes/,
  );
  assert.match(text, /Original schema/);
  const review = (await app.inject('/packs/vendor.gantry.review')).body;
  assert.match(
    review,
    /<a href="\/packs\/vendor\.gantry\.text">vendor\.gantry\.text<\/a> <code>\^1\.0\.0<\/code>/,
  );
  assert.match(review, /core\.approvalGate/);
  assert.match(
    (await app.inject('/packs/vendor.gantry.editor')).body,
    /works without it, with fewer features.*Copy editor/s,
  );
});

test('a page says who signed, and what that proves', async (t) => {
  const catalogue = await sampleCatalogue([]);
  const signed = (method: 'manual' | 'ed25519', state: 'verified' | 'unverifiable') =>
    ({
      signing: { method, state, keyId: 'gantry-1', covers: method === 'manual' ? 'manifest' : 'archive' },
    }) as const;
  const cases: readonly [facts: Facts, words: RegExp][] = [
    [signed('manual', 'verified'), /Signed with the key <code>gantry-1<\/code> of Gantry\./],
    [
      signed('manual', 'verified'),
      /covers the manifest, pack\.json\. Code and schemas are covered by the integrity/,
    ],
    [signed('ed25519', 'verified'), /covers the whole archive/],
    [signed('manual', 'unverifiable'), /could not check/],
    [{}, /This version is not signed/],
  ];
  const app = await readServer(t, catalogue);
  for (const [index, [facts, words]] of cases.entries()) {
    const name = `vendor.acme.p${index}`;
    await catalogue.add(await packArchive(nodePack({ name })), facts);
    assert.match((await app.inject(`/packs/${name}`)).body, words);
  }
});

test('withdrawn and deprecated versions say so first, and older ones name the newest', async (t) => {
  const catalogue = await sampleCatalogue([]);
  const deprecation = {
    reason: 'Slow.',
    supersededBy: 'vendor.acme.fast@2.0.0',
    deprecatedAt: '2026-06-01T00:00:00Z',
    deprecatedBy: 'key_1',
  };
  const yank = { reason: 'Leaks.', yankedAt: '2026-06-02T00:00:00Z', yankedBy: 'key_1' };
  await catalogue.add(await packArchive(nodePack()), { yank });
  await catalogue.add(await packArchive(nodePack({ version: '1.1.0' })), { deprecation });
  const app = await readServer(t, catalogue);
  const old = (await app.inject('/packs/vendor.acme.tools/1.0.0')).body;
  assert.match(old, /This version was withdrawn<\/strong> on .*2 June 2026.*Leaks\./s);
  assert.match(old, /The version to install is <a href="\/packs\/vendor\.acme\.tools">1\.1\.0/);
  const current = (await app.inject('/packs/vendor.acme.tools')).body;
  assert.match(
    current,
    /Deprecated<\/strong> since .*1 June 2026.*Slow\..*href="\/packs\/vendor\.acme\.fast"/s,
  );
  assert.match((await app.inject('/?q=tools')).body, /! Deprecated/);
});

const KINDS: readonly [manifest: JsonObject, shown: RegExp][] = [
  [
    {
      kind: 'prompt',
      prompts: [
        {
          templateId: 'p',
          kind: 'user',
          text: 'Say {{x}}',
          variables: [{ name: 'x', type: 'string', required: true }],
        },
      ],
    },
    /Say \{\{x\}\}/,
  ],
  [
    {
      kind: 'card',
      cards: [
        {
          cardTypeId: 'vendor.acme.tools.c',
          prompt: { template: 'T' },
          inputs: [{ id: 'a', type: 'select', options: ['x'] }],
        },
      ],
    },
    /one of &quot;x&quot;/,
  ],
  [
    {
      kind: 'artifact-type',
      artifactTypes: [
        { artifactTypeId: 'doc.one', displayName: 'One pager', schema: { properties: { t: {} } } },
      ],
    },
    /One pager/,
  ],
  [
    {
      kind: 'connection',
      provider: {
        id: 'acme',
        displayName: 'Acme',
        auth: { kind: 'oauth2' },
        apiHosts: ['api.acme.example'],
      },
    },
    /api\.acme\.example/,
  ],
  [
    { kind: 'frontend-plugin', uiPlugins: [{ pluginId: 'v', surface: 'route', hostApi: ['host.toast'] }] },
    /adds a page/,
  ],
  [
    {
      kind: 'form-content',
      templates: [
        {
          templateId: 'f',
          label: 'Form',
          title: 'T',
          fields: [{ id: 'mail', type: 'text', label: 'Your mail' }],
        },
      ],
    },
    /Your mail/,
  ],
  [
    {
      kind: 'workflow-chain',
      chains: [
        { chainId: 'c', label: 'Chain', dag: { nodes: [{ id: 'n', typeId: 'core.identity' }], edges: [] } },
      ],
    },
    /core\.identity/,
  ],
];

test('every kind of pack has its page', async (t) => {
  const catalogue = await sampleCatalogue([]);
  const app = await readServer(t, catalogue);
  for (const [manifest, shown] of KINDS) {
    const name = `vendor.acme.${String(manifest.kind)}`;
    await catalogue.add(await packArchive(nodePack({ ...manifest, name })));
    assert.match((await app.inject(`/packs/${name}`)).body, shown, name);
  }
});

test('search works from the address alone, and forgives what people do to it', async (t) => {
  const app = await readServer(t, await sampleCatalogue());
  assert.match((await app.inject('/?q=approval')).body, /1 pack for “approval”.*vendor\.gantry\.review/s);
  assert.match((await app.inject('/?q=&kind=workflow-chain')).body, /1 pack of kind “Workflow chains”/);
  assert.match((await app.inject('/?q=%3Cb%3E')).body, /value="&lt;b&gt;"/);
  for (const query of ['kind=none', 'cursor=abc', `q=${'a'.repeat(5_000)}`, 'x=1'])
    assert.equal((await app.inject(`/?${query}`)).statusCode, 200, query);
  const missing = await app.inject('/packs/vendor.gantry.nothing');
  assert.equal(missing.statusCode, 404);
  assert.match(missing.body, /There is no vendor\.gantry\.nothing here/);
});
