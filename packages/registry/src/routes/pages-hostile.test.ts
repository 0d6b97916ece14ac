/** Manifests, schemas and READMEs that mean harm. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elements, nodePack, pageOf } from '../testing/pack-page.ts';

test('hostile text is text', async (t) => {
  const evil = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;
  const { body } = await pageOf(
    t,
    nodePack({
      description: evil,
      author: evil,
      license: evil,
      homepage: 'javascript:alert(1)',
      repository: 'data:text/html,<script>',
      keywords: [evil],
      dependencies: { [evil]: evil },
      peerDependencies: { [evil]: evil },
      nodes: [
        {
          typeId: 'vendor.acme.tools.a',
          label: evil,
          description: evil,
          category: evil,
          inputSchemaRef: 'schemas/a.json',
        },
      ],
    }),
    {
      'schemas/a.json': JSON.stringify({
        description: evil,
        properties: { [evil]: { enum: [evil], description: evil } },
      }),
      'README.md': `# ${evil}\n\n${evil} [click](javascript:alert(1)) <https://a.b/"onclick="> \`${evil}\`\n\n| ${evil} |\n|---|\n| a |\n`,
    },
    { yank: { reason: evil, advisoryUrl: 'javascript:alert(1)', yankedAt: evil, yankedBy: evil } },
  );
  assert.ok(!elements(body).has('script'));
  assert.ok(!elements(body).has('img'));
  assert.doesNotMatch(body, /href="(javascript|data):/i);
  assert.doesNotMatch(body.replaceAll(/"[^"]*"/g, '""'), /<[^>]*\son[a-z]+=/i);
  assert.match(body, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
});

test('what turns text around or hides in it is made visible', async (t) => {
  const { body } = await pageOf(
    t,
    nodePack({ description: 'safe\u202egnp.exe\u2066 \u200bhidden \u0007 end' }),
  );
  assert.doesNotMatch(body, /[\u202a-\u202e\u2066-\u2069\u200b]|\p{Cc}(?<!\n)/u);
  assert.match(body, /safe\ufffdgnp\.exe/);
});

test('huge packs give pages of bounded size', async (t) => {
  const properties = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [
      `p${index}`,
      { type: 'string', description: 'd'.repeat(40) },
    ]),
  );
  const nodes = Array.from({ length: 400 }, (_, index) => ({
    typeId: `vendor.acme.tools.n${index}`,
    description: 'x'.repeat(100),
    inputSchemaRef: 'schemas/big.json',
  }));
  const files = { 'schemas/big.json': JSON.stringify({ properties }), 'README.md': '[`**'.repeat(100_000) };
  const begin = performance.now();
  const { body } = await pageOf(t, nodePack({ nodes }), files);
  assert.ok(performance.now() - begin < 30_000);
  assert.ok(body.length < 4_000_000, String(body.length));
  assert.match(body, /And 340 more/);
});

test('a manifest of surprising shapes still has a page', async (t) => {
  const odd = {
    nodes: [{ typeId: 1, capabilities: [{}] }, null, 'x'],
    agents: {},
    keywords: 'a',
    dependencies: [1],
    runtime: 3,
  };
  const { body } = await pageOf(t, nodePack(odd), { 'schemas/a.json': '{' });
  assert.match(body, /What it asks for/);
});
