import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkflowDefinition } from '@gantry/protocol';
import { Compile } from 'typebox/schema';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { article, chainOf, node, options, parametersOf, refuses } from '../testing/chains.ts';
import { expandChain, expandDeferred } from './expand.ts';
import { expansionPrefix } from './fragment.ts';
import { definitionFromChain, intoDefinition } from './into-definition.ts';

const schema = Compile(WorkflowDefinition);
const publicIssues = publicValidator('workflow-definition.schema.json');
const url = 'https://example.com/a';

const parent: WorkflowDefinition = {
  id: 'news',
  name: 'News',
  version: '1.0.0',
  nodes: [
    { id: 'start', typeId: 'core.noop', name: 'Start', position: { x: 0, y: 0 }, config: {}, inputs: {} },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: { timeout: 5 },
};

describe('a definition from a chain', () => {
  const definitions = {
    'written down': definitionFromChain(article, expandChain(article, { url }, options), 'article'),
    deferred: definitionFromChain(article, expandDeferred(article, { url }, options), 'article'),
    appended: intoDefinition(parent, expandChain(article, { url }, options)),
  };
  for (const [how, definition] of Object.entries(definitions))
    test(`is valid when ${how}`, () => {
      assert.deepEqual([...schema.Errors(definition)[1]], []);
    });

  test('is valid under the public schema', { skip: skipWithoutPublicData }, () => {
    for (const definition of Object.values(definitions)) assert.deepEqual(publicIssues?.(definition), []);
  });

  test('is the chain, and says which', () => {
    const definition = definitions['written down'];
    assert.equal(definition.id, 'article');
    assert.equal(definition.name, article.label);
    assert.equal(definition.version, article.version);
    assert.deepEqual(definition.metadata, {
      expandedFrom: { chainId: article.chainId, chainVersion: '1.2.0', expansionId: 'a8f3' },
    });
    assert.equal(definition.configurableSchema, undefined);
  });

  test('takes the bare names when parameters are deferred', () => {
    const { configurableSchema, metadata } = definitions.deferred;
    assert.deepEqual(configurableSchema, {
      type: 'object',
      properties: { url: { type: 'string' }, words: { type: 'integer' } },
    });
    assert.deepEqual(Object.keys(Object(metadata).deferredParameterAliases), ['url', 'words']);
  });

  test('has no edge to a node that is not there', () => {
    const chain = chainOf([node()], { edges: [{ from: 'start', to: 'a' }] });
    const expansion = expandChain(chain, {}, options);
    refuses(() => definitionFromChain(chain, expansion, 'x'), 'validation_error', { nodeId: 'start' });
    assert.equal(intoDefinition(parent, expansion).edges[0]?.sourceNodeId, 'start');
  });

  test('has no variable of a node that is called like that of a parameter', () => {
    const name = `${expansionPrefix('acme.small', options.expansionId)}topic`;
    const producedVariables = [{ name, producedBy: 'a', type: 'string' as const }];
    const chain = chainOf([node()], { parameters: parametersOf('topic'), producedVariables });
    const expansion = expandDeferred(chain, {}, options);
    refuses(() => definitionFromChain(chain, expansion, 'x'), 'conflict', { variableName: name });
  });
});

describe('a chain in a definition', () => {
  const produced = (type: 'object' | 'string') =>
    chainOf([node()], { producedVariables: [{ name: 'plan', producedBy: 'a', type }] });
  const again = { ...options, expansionId: 'b000' };

  test('stands beside what was there, twice if need be', () => {
    const before = structuredClone(parent);
    const once = intoDefinition(parent, expandChain(article, { url }, options));
    const twice = intoDefinition(once, expandChain(article, { url, words: 9 }, again));
    assert.equal(twice.nodes.length, 5);
    assert.equal(twice.edges.length, 2);
    assert.deepEqual(parent, before);
  });

  test('does not come twice under one expansion id', () => {
    const once = intoDefinition(parent, expandChain(article, { url }, options));
    const taken = { id: 'vendor_acme_read-article_a8f3_fetch-1' };
    refuses(() => intoDefinition(once, expandChain(article, { url }, options)), 'conflict', taken);
    const edge = { id: 'vendor_acme_read-article_a8f3_edge-0', sourceNodeId: 'start', targetNodeId: 'start' };
    const other = { ...parent, edges: [edge] };
    refuses(() => intoDefinition(other, expandChain(article, { url }, options)), 'conflict', { id: edge.id });
  });

  test('shares a variable that is the same, and no other', () => {
    const once = intoDefinition(parent, expandChain(produced('object'), {}, options));
    const twice = intoDefinition(once, expandChain(produced('object'), {}, again));
    assert.deepEqual(twice.variables, [{ name: 'plan', type: 'object' }]);
    refuses(() => intoDefinition(once, expandChain(produced('string'), {}, again)), 'conflict', {
      variableName: 'plan',
    });
  });

  test('brings its compensation policy, or finds the same one', () => {
    const policy = { triggers: ['node-failure'], retry: { maxAttempts: 3, backoffMs: 5 } };
    const same = { retry: { backoffMs: 5, maxAttempts: 3 }, triggers: ['node-failure'] };
    const chain = (compensation: object) => chainOf([node()], { compensation: { ...compensation } });
    const once = intoDefinition(parent, expandChain(chain(policy), {}, options));
    assert.deepEqual(once.settings, { timeout: 5, compensation: policy });
    const twice = intoDefinition(once, expandChain(chain(same), {}, again));
    assert.deepEqual(twice.settings, once.settings);
    const other = expandChain(chain({ triggers: ['run-cancel'] }), {}, again);
    refuses(() => intoDefinition(once, other), 'chain_compensation_policy_conflict', {
      chainId: 'acme.small',
    });
    const silent = intoDefinition(once, expandChain(chainOf([node()]), {}, again));
    assert.deepEqual(silent.settings, once.settings);
  });

  test('shares no configurable name with another', () => {
    const chain = chainOf([node()], { parameters: parametersOf('topic') });
    const once = intoDefinition(parent, expandDeferred(chain, {}, options));
    refuses(() => intoDefinition(once, expandDeferred(chain, {}, again)), 'conflict', { parameter: 'topic' });
  });
});
