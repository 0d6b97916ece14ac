import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { article, chainOf, node, options, refuses } from '../testing/chains.ts';
import { expandDeferred } from './expand.ts';

const url = 'https://example.com/a';
const PREFIX = 'vendor_acme_read-article_a8f3_';

describe('deferred parameters', () => {
  const expansion = expandDeferred(article, { url }, options);

  test('become variables under names of their own', () => {
    assert.deepEqual(expansion.variables, [
      { name: `${PREFIX}url`, type: 'string', required: true, defaultValue: url },
      { name: `${PREFIX}words`, type: 'number', required: false, defaultValue: 50 },
    ]);
  });

  test('are read by inputs that are exactly one parameter; the rest is written down', () => {
    assert.deepEqual(expansion.nodes[0]?.inputs.url, { type: 'variable', variableName: `${PREFIX}url` });
    assert.deepEqual(expansion.nodes[1]?.config, { length: 50, prompt: `At most 50 words about ${url}` });
    assert.ok(!JSON.stringify(expansion).includes('{{params.'));
  });

  test('are given by their bare names', () => {
    assert.deepEqual(expansion.deferral, {
      configurableProperties: { url: { type: 'string' }, words: { type: 'integer' } },
      aliases: { url: `${PREFIX}url`, words: `${PREFIX}words` },
    });
  });

  test('are checked like the others', () => {
    refuses(() => expandDeferred(article, { url: 5 }, options), 'chain_parameter_invalid', { path: '/url' });
  });

  test('keep the format of a text, and only of a text', () => {
    const properties = {
      day: { type: 'string', format: 'x-lunar-day' },
      count: { type: 'integer', format: 'int32' },
      open: { enum: [[1], { a: 1 }] },
    };
    const chain = chainOf([node()], { parameters: { type: 'object', properties } });
    assert.deepEqual(expandDeferred(chain, { open: [1] }, options).variables, [
      { name: 'acme_small_a8f3_day', type: 'string', required: false, format: 'x-lunar-day' },
      { name: 'acme_small_a8f3_count', type: 'number', required: false },
      { name: 'acme_small_a8f3_open', type: 'array', required: false, defaultValue: [1] },
    ]);
  });

  test('without a value leave the input out', () => {
    const inputs = { x: '{{params.x}}', y: { type: 'variable', variableName: 'x' } };
    const parameters = { type: 'object', properties: { x: { type: 'string' } } };
    const { nodes } = expandDeferred(chainOf([node({ inputs })], { parameters }), {}, options);
    assert.deepEqual(nodes[0]?.inputs, {
      x: { type: 'variable', variableName: 'acme_small_a8f3_x', optional: true },
      y: { type: 'variable', variableName: 'acme_small_a8f3_x' },
    });
  });

  test('that are secret have no place in a workflow', () => {
    const key = { type: 'string', 'x-openwop-sensitive': true };
    const parameters = { type: 'object', required: ['key'], properties: { key } };
    const uses = [
      node({ inputs: { auth: '{{params.key}}' } }),
      node({ inputs: { auth: { type: 'variable', variableName: 'key' } } }),
      node({ inputs: { auth: { header: 'Bearer {{params.key}}' } } }),
      node({ config: { auth: '{{params.key}}' } }),
      node({ name: 'With {{params.key}}' }),
    ];
    for (const use of uses) {
      const expand = () => expandDeferred(chainOf([use], { parameters }), { key: 's3cret' }, options);
      refuses(expand, 'sensitive_param_not_deferrable', { parameter: 'key' });
    }
    const unused = expandDeferred(chainOf([node()], { parameters }), { key: 's3cret' }, options);
    assert.deepEqual(unused.variables, []);
    assert.deepEqual(unused.deferral, { configurableProperties: {}, aliases: {} });
  });
});
