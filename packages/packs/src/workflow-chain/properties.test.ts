import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Json, WorkflowDefinition } from '@gantry/protocol';
import fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { publicValidator } from '../../../protocol/src/testing/public-schemas.ts';
import { chainOf, node, options, parametersOf } from '../testing/chains.ts';
import { readChain, type WorkflowChain } from './chain.ts';
import { expandChain } from './expand.ts';
import { definitionFromChain, intoDefinition } from './into-definition.ts';

const schema = Compile(WorkflowDefinition);
const publicIssues = publicValidator('workflow-definition.schema.json');

const NAMES = ['x', 'y', 'long_Name9'];
const token = fc.constantFrom(...NAMES, 'unknown').map((name) => `{{params.${name}}}`);
const text = fc
  .array(
    fc.oneof(
      token,
      fc.string({ maxLength: 5 }).map((part) => part.replaceAll('{', '')),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(''));
const data = (leaf: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
  fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'type', 'value'), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ),
  })).value;
const plainLeaf = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('one', 'two words'),
);
const object = (values: fc.Arbitrary<Json>) =>
  fc.dictionary(fc.constantFrom('p', 'q', 'r'), values, { noNullPrototype: true });
const templates = object(data(fc.oneof(text, plainLeaf)));

const chains: fc.Arbitrary<WorkflowChain> = fc
  .uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/), { minLength: 1, maxLength: 5 })
  .chain((ids) => {
    const id = fc.constantFrom(...ids);
    const end = fc.tuple(id, fc.constantFrom('', '.out', '.a.b')).map((parts) => parts.join(''));
    const condition = fc.record({
      type: fc.constant('equals' as const),
      left: fc.constant('output.x'),
      right: text,
    });
    const edge = fc.record({ from: end, to: end, condition }, { requiredKeys: ['from', 'to'] });
    return fc.record({
      nodes: fc.tuple(
        ...ids.map((name) => fc.record({ id: fc.constant(name), config: templates, inputs: templates })),
      ),
      edges: fc.array(edge, { maxLength: 6 }),
    });
  })
  .map(({ nodes, edges }) => {
    const parameters = parametersOf(...NAMES);
    return chainOf(
      nodes.map((rest) => node(rest)),
      { edges, parameters, chainId: 'vendor.acme.any' },
    );
  });
const parameters = object(data(plainLeaf)).map(({ p, q, r }) =>
  JSON.parse(JSON.stringify({ x: p, y: q, long_Name9: r })),
);

describe('every expansion', () => {
  test('is a valid definition without placeholders, whose edges name its nodes', () => {
    fc.assert(
      fc.property(chains, parameters, (chain, values) => {
        const expansion = expandChain(readChain(chain), values, options);
        const definition = definitionFromChain(chain, expansion, 'any');
        assert.ok(!JSON.stringify([definition, expansion.fragment]).includes('{{params.'));
        assert.deepEqual([...schema.Errors(definition)[1]], []);
        assert.deepEqual(publicIssues?.(definition) ?? [], []);
        const ids = new Set(definition.nodes.map(({ id }) => id));
        for (const { sourceNodeId, targetNodeId } of definition.edges)
          assert.ok(ids.has(sourceNodeId) && ids.has(targetNodeId));
      }),
    );
  });

  test('stands beside another of the same chain, with ids of its own', () => {
    fc.assert(
      fc.property(chains, parameters, parameters, (chain, first, second) => {
        const once = definitionFromChain(chain, expandChain(chain, first, options), 'any');
        const again = expandChain(chain, second, { ...options, expansionId: 'b001' });
        const twice = intoDefinition(once, again);
        assert.equal(new Set(twice.nodes.map(({ id }) => id)).size, 2 * chain.dag.nodes.length);
        assert.equal(new Set(twice.edges.map(({ id }) => id)).size, 2 * (chain.dag.edges?.length ?? 0));
        assert.deepEqual([...schema.Errors(twice)[1]], []);
      }),
    );
  });

  test('is the same each time', () => {
    fc.assert(
      fc.property(chains, parameters, (chain, values) => {
        assert.deepEqual(expandChain(chain, values, options), expandChain(chain, values, options));
      }),
    );
  });
});
