import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkflowDefinition } from '@gantry/protocol';
import { Compile } from 'typebox/schema';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { article, chainOf, node, options, parametersOf, refuses } from '../testing/chains.ts';
import { definitionFromChain, expandChain, expandDeferred } from './expand.ts';
import { expansionPrefix } from './fragment.ts';

const schema = Compile(WorkflowDefinition);
const publicIssues = publicValidator('workflow-definition.schema.json');
const url = 'https://example.com/a';

describe('a definition from a chain', () => {
  const definitions = {
    'written down': definitionFromChain(article, expandChain(article, { url }, options), 'article'),
    deferred: definitionFromChain(article, expandDeferred(article, { url }, options), 'article'),
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
  });

  test('brings its compensation policy', () => {
    const policy = { triggers: ['node-failure'], retry: { maxAttempts: 3, backoffMs: 5 } };
    const chain = chainOf([node()], { compensation: { ...policy } });
    const { settings } = definitionFromChain(chain, expandChain(chain, {}, options), 'x');
    assert.deepEqual(settings, { compensation: policy });
  });

  test('has no variable of a node that is called like that of a parameter', () => {
    const name = `${expansionPrefix('acme.small', options.expansionId)}topic`;
    const producedVariables = [{ name, producedBy: 'a', type: 'string' as const }];
    const chain = chainOf([node()], { parameters: parametersOf('topic'), producedVariables });
    const expansion = expandDeferred(chain, {}, options);
    refuses(() => definitionFromChain(chain, expansion, 'x'), 'conflict', { variableName: name });
  });
});
