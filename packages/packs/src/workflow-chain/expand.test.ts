import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { article, chainOf, node, options, parametersOf, refuses } from '../testing/chains.ts';
import type { FragmentEdge } from './chain.ts';
import { expandChain } from './expand.ts';

const url = 'https://example.com/a';
const PREFIX = 'vendor_acme_read-article_a8f3_';

describe('expanding a chain', () => {
  const expansion = expandChain(article, { url }, options);

  test('gives nodes that a definition takes: renamed, filled in, complete', () => {
    assert.deepEqual(expansion.nodes, [
      {
        id: `${PREFIX}fetch-1`,
        typeId: 'core.http.get',
        name: 'fetch-1',
        position: { x: 0, y: 0 },
        config: {},
        inputs: { url: { type: 'static', value: url } },
        settings: { capabilities: ['side-effectful'] },
      },
      {
        id: `${PREFIX}sum`,
        typeId: 'vendor.acme.summarize',
        name: 'Sum up',
        position: { x: 10, y: 20 },
        config: { length: 50, prompt: `At most 50 words about ${url}` },
        inputs: {},
        settings: { capabilities: ['side-effectful'] },
      },
    ]);
  });

  test('gives edges between the renamed nodes, with ports and rules', () => {
    assert.deepEqual(expansion.edges, [
      {
        id: `${PREFIX}edge-0`,
        sourceNodeId: `${PREFIX}fetch-1`,
        sourceOutput: 'body',
        targetNodeId: `${PREFIX}sum`,
        targetInput: 'text',
        triggerRule: 'all_complete',
      },
    ]);
  });

  test('gives the same in the form of the manifest, with nothing made up', () => {
    const [fetch, sum] = expansion.fragment.nodes;
    assert.deepEqual(fetch, {
      id: `${PREFIX}fetch-1`,
      typeId: 'core.http.get',
      inputs: { url },
      capabilities: ['side-effectful'],
    });
    assert.deepEqual(sum?.config, { length: 50, prompt: `At most 50 words about ${url}` });
    assert.deepEqual(expansion.fragment.edges, [
      { from: `${PREFIX}fetch-1.body`, to: `${PREFIX}sum.text`, triggerRule: 'all_complete' },
    ]);
  });

  test('says where it came from and what the chain declares', () => {
    assert.deepEqual(expansion.expandedFrom, {
      chainId: 'vendor.acme.read-article',
      chainVersion: '1.2.0',
      expansionId: 'a8f3',
    });
    assert.deepEqual(expansion.capabilities, ['side-effectful']);
    assert.deepEqual(expansion.outputs, article.outputs);
  });

  test('changes neither the chain nor the parameters', () => {
    const before = structuredClone(article);
    const parameters = Object.freeze({ url });
    expandChain(article, parameters, options);
    assert.deepEqual(article, before);
  });
});

test('a node is named by its parameters, or by its id when that leaves nothing', () => {
  const chain = chainOf([node({ name: 'On {{params.x}}' }), node({ id: 'b', name: '{{params.y}}' })], {
    parameters: parametersOf('x', 'y'),
  });
  const names = expandChain(chain, { x: 'tides' }, options).nodes.map(({ name }) => name);
  assert.deepEqual(names, ['On tides', 'b']);
});

describe('node types', () => {
  test('core types and known types pass, the first other one is named', () => {
    const chain = chainOf([
      node({ id: 'a', typeId: 'core.openwop.http.get' }),
      node({ id: 'b', typeId: 'made.up.foo' }),
      node({ id: 'c', typeId: 'made.up.bar' }),
    ]);
    refuses(() => expandChain(chain, {}, options), 'chain_unresolvable_typeid', {
      typeId: 'made.up.foo',
      nodeId: 'b',
    });
  });

  test('an inverse node type is looked at like any other', () => {
    const chain = chainOf([node({ compensation: { nodeTypeId: 'made.up.undo' } })]);
    refuses(() => expandChain(chain, {}, options), 'chain_unresolvable_typeid', { typeId: 'made.up.undo' });
  });

  test('types come before parameters', () => {
    const chain = { ...article, dag: { nodes: [node({ typeId: 'made.up.foo' })] } };
    refuses(() => expandChain(chain, {}, options), 'chain_unresolvable_typeid');
  });
});

describe('parameters', () => {
  test('are checked after defaults are filled in, and say where they are wrong', () => {
    refuses(() => expandChain(article, { url, words: 'many' }, options), 'chain_parameter_invalid', {
      path: '/words',
    });
    refuses(() => expandChain(article, {}, options), 'chain_parameter_invalid');
  });

  test('have defaults inside objects that are present', () => {
    const mail = { type: 'object', properties: { to: { type: 'string', default: 'me' } } };
    const chain = chainOf([node({ config: { mail: '{{params.mail}}' } })], {
      parameters: { type: 'object', properties: { mail } },
    });
    assert.deepEqual(expandChain(chain, { mail: {} }, options).nodes[0]?.config, { mail: { to: 'me' } });
    assert.deepEqual(expandChain(chain, {}, options).nodes[0]?.config, { mail: '' });
  });

  test('are bounded', () => {
    const huge = { url: 'x'.repeat(300_000) };
    refuses(() => expandChain(article, huge, options), 'chain_parameter_invalid');
  });

  test('that are secret are never written down', () => {
    const parameters = {
      type: 'object',
      properties: { key: { type: 'string', 'x-openwop-sensitive': true } },
    };
    const chain = chainOf([node({ config: { auth: 'Bearer {{params.key}}' } })], { parameters });
    refuses(() => expandChain(chain, { key: 's' }, options), 'sensitive_param_not_deferrable', {
      parameter: 'key',
    });
    expandChain(chainOf([node()], { parameters }), { key: 's' }, options);
  });
});

describe('inputs', () => {
  const inputs = {
    plain: { deep: ['{{params.x}}'] },
    fixed: { type: 'static', value: '{{params.x}}' },
    computed: { type: 'expression', expression: 'variables.{{params.name}}' },
    upstream: { type: 'connection', nodeId: 'a', outputKey: 'out' },
    outside: { type: 'connection', nodeId: 'start', outputKey: 'out', optional: true },
    read: { type: 'variable', variableName: 'plan' },
  };
  const chain = chainOf([node(), node({ id: 'b', inputs })], {
    parameters: parametersOf('x', 'name'),
    producedVariables: [{ name: 'plan', producedBy: 'a', type: 'object' }],
  });

  test('are ports: plain values become static, references follow their node', () => {
    const expansion = expandChain(chain, { x: 7, name: 'total' }, options);
    assert.deepEqual(expansion.nodes[1]?.inputs, {
      plain: { type: 'static', value: { deep: [7] } },
      fixed: { type: 'static', value: 7 },
      computed: { type: 'expression', expression: 'variables.total' },
      upstream: { type: 'connection', nodeId: 'acme_small_a8f3_a', outputKey: 'out' },
      outside: inputs.outside,
      read: inputs.read,
    });
    assert.deepEqual(expansion.fragment.nodes[1]?.inputs?.plain, { deep: [7] });
    assert.deepEqual(expansion.fragment.nodes[1]?.inputs?.fixed, { type: 'static', value: 7 });
  });

  test('never become a reference through the value of a parameter', () => {
    const stolen = { type: 'variable', variableName: 'secret' };
    const small = chainOf([node({ inputs: { x: '{{params.x}}' } })], { parameters: parametersOf('x') });
    const expansion = expandChain(small, { x: stolen }, options);
    assert.deepEqual(expansion.nodes[0]?.inputs.x, { type: 'static', value: stolen });
  });

  test('that name nothing once they are filled in are refused', () => {
    const empty = { computed: { type: 'expression', expression: '{{params.x}}' } };
    refuses(() => expandChain(chainOf([node({ inputs: empty })]), {}, options), 'validation_error', {
      nodeId: 'a',
      input: 'computed',
    });
  });
});

describe('edges', () => {
  const edgeOf = (edge: FragmentEdge, parameters = {}) =>
    expandChain(
      chainOf([node(), node({ id: 'b' }), node({ id: 'a.b' })], {
        edges: [edge],
        parameters: parametersOf('x'),
      }),
      parameters,
      options,
    );

  test('keep conditions as they are', () => {
    const condition = { type: 'equals', left: 'output.kind', right: { deep: ['x', 1] } } as const;
    assert.deepEqual(edgeOf({ from: 'a', to: 'b', condition }).edges[0]?.condition, condition);
    assert.deepEqual(edgeOf({ from: 'a', to: 'b', condition: 'output.ok' }).edges[0]?.condition, {
      type: 'expression',
      expression: 'output.ok',
    });
  });

  test('fill in the placeholders of conditions', () => {
    const condition = { type: 'equals', left: 'output.{{params.x}}', right: '{{params.x}}' } as const;
    assert.deepEqual(edgeOf({ from: 'a', to: 'b', condition }, { x: 5 }).edges[0]?.condition, {
      type: 'equals',
      left: 'output.5',
      right: 5,
    });
  });

  test('have default ports, and leave ids from elsewhere alone', () => {
    const { edges, fragment } = edgeOf({ from: 'start.done', to: 'b' });
    assert.deepEqual(fragment.edges, [{ from: 'start.done', to: 'acme_small_a8f3_b' }]);
    assert.equal(edges[0]?.sourceNodeId, 'start');
    assert.equal(edges[0]?.sourceOutput, 'done');
    assert.equal(edges[0]?.targetInput, 'input');
    assert.equal(edges[0]?.triggerRule, undefined);
  });

  test('find a node whose id has a dot', () => {
    assert.equal(edgeOf({ from: 'a.b', to: 'b' }).edges[0]?.sourceNodeId, 'acme_small_a8f3_a.b');
  });
});

describe('compensation', () => {
  const inputMapping = {
    id: `\${nodes.reserve.output.id}`,
    list: ['nodes.reserve.x', 'nodes.other.x', 'subnodes.reserve', '{{params.note}}'],
  };
  const reserve = node({
    id: 'reserve',
    compensation: { nodeTypeId: 'core.http.delete', inputMapping, retry: { maxAttempts: 3 } } as NonNullable<
      ReturnType<typeof node>['compensation']
    >,
  });

  test('is carried with its references renamed and its values filled in', () => {
    const chain = chainOf([reserve], { parameters: parametersOf('note') });
    const expansion = expandChain(chain, { note: 'nodes.reserve.y' }, options);
    const expected = {
      nodeTypeId: 'core.http.delete',
      inputMapping: {
        id: `\${nodes.acme_small_a8f3_reserve.output.id}`,
        list: ['nodes.acme_small_a8f3_reserve.x', 'nodes.other.x', 'subnodes.reserve', 'nodes.reserve.y'],
      },
      retry: { maxAttempts: 3 },
    };
    assert.deepEqual(expansion.nodes[0]?.compensation, expected);
    assert.deepEqual(expansion.fragment.nodes[0]?.compensation, expected);
  });

  test('of a node needs no capability, a policy does', () => {
    const poor = { ...options, capabilities: { compensation: false } };
    expandChain(chainOf([reserve, node({ irreversibleEffect: true })]), {}, poor);
    const policy = chainOf([reserve], { compensation: { triggers: ['node-failure'] } });
    refuses(() => expandChain(policy, {}, poor), 'capability_required', {
      requiredCapability: 'compensation',
    });
    assert.deepEqual(expandChain(policy, {}, options).compensation, { triggers: ['node-failure'] });
  });
});

test('an expansion id that could not stand in a node id is a bug of the caller', () => {
  for (const expansionId of ['', 'a b', 'a.b', 'x'.repeat(65)])
    assert.throws(() => expandChain(article, { url }, { ...options, expansionId }), /not an expansion id/);
});
