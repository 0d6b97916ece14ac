import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { publicValidator, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { article, chainOf, node, refuses } from '../testing/chains.ts';
import { readChain, type WorkflowChain } from './chain.ts';
import { checkChain } from './check-chain.ts';

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

describe('reading a chain', () => {
  test('takes a whole chain as it is', () => {
    assert.equal(readChain(article), article);
  });

  test('the sample is a chain of the public manifest schema', { skip: skipWithoutPublicData }, () => {
    const { dag, ...rest } = article;
    // The public copy is older than `triggerRule`.
    const edges = dag.edges?.map(({ from, to }) => ({ from, to }));
    const chain = { ...rest, dag: { ...dag, edges } };
    const pack = {
      name: 'vendor.acme.articles',
      version: '1.0.0',
      kind: 'workflow-chain',
      engines: { openwop: '>=1.0.0' },
      chains: [chain],
    };
    assert.deepEqual(publicValidator('workflow-chain-pack-manifest.schema.json')?.(pack), []);
  });

  const unknownKeys: Record<string, object> = {
    chain: { ...article, triggers: [] },
    dag: { ...article, dag: { ...article.dag, variables: [] } },
    node: chainOf([{ ...node(), retries: 1 } as ReturnType<typeof node>]),
    edge: { ...chainOf([node()]), dag: { nodes: [node()], edges: [{ from: 'a', to: 'a', label: 'x' }] } },
  };
  for (const [level, value] of Object.entries(unknownKeys))
    test(`refuses an unknown key on the ${level}`, () => {
      refuses(() => readChain(value), 'validation_error');
    });

  const tooMuch: Record<string, WorkflowChain> = {
    'nodes than 500': chainOf(many(501, (index) => node({ id: `n${index}` }))),
    'edges than 2000': chainOf([node()], { edges: many(2001, () => ({ from: 'a', to: 'a' })) }),
    'text than a megabyte': chainOf([node({ config: { text: 'x'.repeat(1_100_000) } })]),
    'levels than 32': chainOf([node({ config: { deep: nested(40) } })]),
  };
  for (const [what, chain] of Object.entries(tooMuch))
    test(`refuses more ${what}`, () => {
      refuses(() => readChain(chain), 'validation_error');
    });

  test('refuses what is no chain, and a key that would set a prototype', () => {
    for (const value of [null, [], 'chain', {}, chainOf([])])
      refuses(() => readChain(value), 'validation_error');
    const config = JSON.parse('{"__proto__": {"x": 1}}');
    refuses(() => readChain(chainOf([node({ config })])), 'validation_error');
  });

  test('says where a chain is wrong', () => {
    const error = refuses(() => readChain({ ...article, chainId: 'Acme' }), 'validation_error');
    assert.equal(error.details?.path, '/chainId');
  });
});

describe('a chain on any host', () => {
  test('names no workflow of one host', () => {
    const chain = chainOf([node({ typeId: 'core.subWorkflow', config: { workflowId: 'wf-1' } })]);
    refuses(() => checkChain(chain), 'chain_fragment_pins_workflow_id', { nodeId: 'a' });
  });

  test('has no node that both has and lacks an inverse', () => {
    const compensation = { nodeTypeId: 'core.noop' };
    const both = chainOf([node({ compensation, irreversibleEffect: true })]);
    refuses(() => checkChain(both), 'chain_irreversible_with_compensation', { nodeId: 'a' });
    checkChain(chainOf([node({ compensation, irreversibleEffect: false })]));
    checkChain(chainOf([node({ irreversibleEffect: true })]));
  });

  for (const type of ['truthy', 'falsy', 'equals', 'notEquals', 'contains', 'regex'] as const)
    test(`has no ${type} condition without a left side`, () => {
      for (const condition of [{ type }, { type, left: '' }, { type, right: true }]) {
        const chain = chainOf([node()], { edges: [{ from: 'a', to: 'a', condition }] });
        refuses(() => checkChain(chain), 'chain_edge_condition_invalid', { edge: 0 });
      }
      const judged = { from: 'a', to: 'a', condition: { type, left: 'output.ok' } };
      checkChain(chainOf([node()], { edges: [judged] }));
    });

  test('has no expression condition without an expression', () => {
    const edges = [{ from: 'a', to: 'a', condition: { type: 'expression', left: 'x' } as const }];
    refuses(() => checkChain(chainOf([node()], { edges })), 'chain_edge_condition_invalid');
  });

  test('has one node for each id, and placeholders in values only', () => {
    refuses(() => checkChain(chainOf([node(), node()])), 'validation_error', { path: '/dag/nodes/1/id' });
    const config = { list: [{ '{{params.x}}': 1 }] };
    refuses(() => checkChain(chainOf([node({ config })])), 'validation_error', { path: '/dag/nodes/0' });
  });
});
