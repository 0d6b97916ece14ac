import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkflowDefinition } from '@gantry/protocol';
import { Compile } from 'typebox/schema';
import { chainOf, node, options, refuses } from '../testing/chains.ts';
import type { SubChainRef, WorkflowChain } from './chain.ts';
import { expandChain } from './expand.ts';
import { type InstantiateOptions, instantiateChain } from './sub-chains.ts';

const schema = Compile(WorkflowDefinition);
type Packs = Record<string, WorkflowChain[]>;

const call = (ref: unknown, id = 'call') =>
  node({ id, typeId: 'core.subWorkflow', config: { subChainRef: ref, waitForCompletion: true } });

const calling = (chainId: string, ...refs: SubChainRef[]): WorkflowChain =>
  chainOf(
    refs.length === 0
      ? [node()]
      : refs.map((ref, index) => call(typeof ref === 'string' ? ref : ref.chainId, `n${index}`)),
    { chainId, subChains: refs.map((ref) => ({ ref })) },
  );

function optionsFor(packs: Packs, tenantId = 'acme'): InstantiateOptions {
  const resolve = (ref: SubChainRef, from: string) => {
    const packName = typeof ref === 'string' ? from : ref.packName;
    const chainId = typeof ref === 'string' ? ref : ref.chainId;
    const chain = packs[packName]?.find((candidate) => candidate.chainId === chainId);
    return chain && { packName, chain };
  };
  return {
    ...options,
    workflowId: 'root',
    parameters: 'written-down',
    subChains: { tenantId, resolve },
  };
}

const instantiate = (chain: WorkflowChain, packs: Packs = {}, tenantId?: string) =>
  instantiateChain({ packName: 'p', chain }, {}, optionsFor({ p: [chain], ...packs }, tenantId));

describe('sub-chains', () => {
  const lesson = calling('lesson-batch');
  const course = calling('course', 'lesson-batch');

  test('become workflows of their own, which their parents name', () => {
    const { definition, children } = instantiate(course, { p: [course, lesson] });
    assert.equal(children.length, 1);
    assert.match(children[0]!.id, /^chain_lesson-batch_[0-9a-f]{32}$/);
    assert.deepEqual(definition.nodes[0]?.config, { workflowId: children[0]!.id, waitForCompletion: true });
    for (const made of [definition, ...children]) assert.deepEqual([...schema.Errors(made)[1]], []);
  });

  test('have one id for each tenant, chain and version, and one content', () => {
    const id = (tenant: string, version = '1.0.0') =>
      instantiate(course, { p: [course, { ...lesson, version }] }, tenant).children[0]!;
    assert.deepEqual(id('acme'), id('acme'));
    assert.notEqual(id('acme').id, id('other').id);
    assert.notEqual(id('acme').id, id('acme', '2.0.0').id);
  });

  test('come once, before those that call them', () => {
    const leaf = calling('leaf');
    const middle = calling('middle', 'leaf');
    const root = calling('root-chain', 'middle', 'leaf');
    const { children, definition } = instantiate(root, { p: [root, middle, leaf] });
    assert.deepEqual(
      children.map(({ metadata }) => Object(metadata).expandedFrom.chainId),
      ['leaf', 'middle'],
    );
    assert.equal(definition.nodes[1]?.config.workflowId, children[0]?.id);
    assert.equal(children[1]?.nodes[0]?.config.workflowId, children[0]?.id);
  });

  test('are found in other packs, whose siblings are their own', () => {
    const ref = { packName: 'q', chainId: 'mid', version: '^1' };
    const root = calling('root-chain', ref);
    const q = [calling('mid', 'leaf'), calling('leaf')];
    assert.equal(instantiate(root, { p: [root], q }).children.length, 2);
  });

  test('are dispatched side by side when a node names a list', () => {
    const fan = node({ typeId: 'core.dispatch', config: { subChainRef: ['x', 'y'] } });
    const root = chainOf([fan], { subChains: [{ ref: 'x' }, { ref: 'y' }] });
    const { children, definition } = instantiate(root, { p: [root, calling('x'), calling('y')] });
    assert.deepEqual(definition.nodes[0]?.config, { workflowIds: children.map(({ id }) => id) });
  });

  test('take their parameters as variables, whoever calls them', () => {
    const parameters = {
      type: 'object',
      required: ['topic'],
      properties: { topic: { type: 'string' }, words: { type: 'integer', default: 5 } },
    };
    const writer = node({ inputs: { topic: '{{params.topic}}' }, config: { words: '{{params.words}}' } });
    const child = chainOf([writer], { chainId: 'lesson-batch', parameters });
    const made = instantiate(course, { p: [course, child] }).children[0]!;
    assert.deepEqual(made.variables, [
      { name: 'topic', type: 'string', required: true },
      { name: 'words', type: 'number', required: false, defaultValue: 5 },
    ]);
    assert.deepEqual(made.nodes[0]?.inputs, { topic: { type: 'variable', variableName: 'topic' } });
    assert.deepEqual(made.nodes[0]?.config, { words: 5 });
    const frozen = chainOf([node({ config: { t: 'on {{params.topic}}' } })], {
      chainId: 'lesson-batch',
      parameters,
    });
    refuses(() => instantiate(course, { p: [course, frozen] }), 'chain_parameter_invalid', {
      path: '/topic',
    });
  });
});

describe('sub-chains that are refused', () => {
  test('those that cannot be found, named or not', () => {
    const root = calling('root-chain', 'gone');
    refuses(() => instantiate(root), 'sub_chain_unresolved', { ref: 'gone' });
    const unnamed = chainOf([node()], { subChains: [{ ref: 'gone' }] });
    refuses(() => instantiate(unnamed), 'sub_chain_unresolved', { ref: 'gone' });
    const undeclared = chainOf([call('leaf')], { subChains: [] });
    refuses(() => instantiate(undeclared, { p: [undeclared, calling('leaf')] }), 'sub_chain_unresolved');
    refuses(() => instantiate(chainOf([call(5)])), 'sub_chain_unresolved', { ref: '5' });
  });

  test('a circle, however long', () => {
    const self = calling('self', 'self');
    refuses(() => instantiate(self), 'sub_chain_cycle', { chainId: 'self' });
    const first = calling('first', 'second');
    const second = calling('second', { packName: 'p', chainId: 'first', version: '1' });
    refuses(() => instantiate(first, { p: [first, second] }), 'sub_chain_cycle', { chainId: 'first' });
  });

  const line = (length: number): WorkflowChain[] =>
    Array.from({ length: length + 1 }, (_, index) =>
      index === length ? calling(`c${index}`) : calling(`c${index}`, `c${index + 1}`),
    );

  test('more than eight levels', () => {
    const eight = line(8);
    assert.equal(instantiate(eight[0]!, { p: eight }).children.length, 8);
    const nine = line(9);
    refuses(() => instantiate(nine[0]!, { p: nine }), 'sub_chain_max_depth_exceeded', { maxDepth: 8 });
  });

  test('more than eight levels, also when the lower ones were met higher up first', () => {
    const chains = line(9);
    const root = calling('c0', 'c5', 'c1');
    refuses(() => instantiate(root, { p: [root, ...chains.slice(1)] }), 'sub_chain_max_depth_exceeded');
  });

  test('one that is declared twice: which one a node means could not be told', () => {
    const twice = [{ ref: 'leaf' }, { ref: { packName: 'q', chainId: 'leaf', version: '1' } }];
    const root = chainOf([call('leaf')], { subChains: twice });
    const packs = { p: [root, calling('leaf')], q: [calling('leaf')] };
    refuses(() => instantiate(root, packs), 'sub_chain_unresolved', { ref: 'leaf' });
  });

  test('more than a hundred', () => {
    const leaves = Array.from({ length: 110 }, (_, index) => calling(`leaf-${index}`));
    const ids = leaves.map(({ chainId }) => chainId);
    const branches = [ids.slice(0, 50), ids.slice(50, 100), ids.slice(100)];
    const middles = branches.map((refs, index) => calling(`middle-${index}`, ...refs));
    const root = calling('root-chain', ...middles.map(({ chainId }) => chainId));
    refuses(() => instantiate(root, { p: [root, ...middles, ...leaves] }), 'validation_error', { max: 100 });
  });

  test('two packs under one name', () => {
    const other = { packName: 'q', chainId: 'leaf', version: '1.0.0' };
    const middle = calling('middle', other);
    const root = calling('root-chain', 'leaf', 'middle');
    const packs = { p: [root, middle, calling('leaf')], q: [calling('leaf')] };
    refuses(() => instantiate(root, packs), 'conflict', { packNames: ['p', 'q'] });
  });

  test('all of them on a host that does not run children', () => {
    const root = calling('root-chain', 'leaf');
    const none = { ...optionsFor({}), subChains: undefined };
    refuses(() => instantiateChain({ packName: 'p', chain: root }, {}, none), 'sub_chain_unsupported');
    refuses(() => expandChain(chainOf([call('leaf')]), {}, options), 'sub_chain_unsupported');
  });

  test('a child that the host could not run, before anything is made', () => {
    const root = calling('root-chain', 'leaf');
    const leaf = chainOf([node({ typeId: 'made.up.foo' })], { chainId: 'leaf' });
    refuses(() => instantiate(root, { p: [root, leaf] }), 'chain_unresolvable_typeid', {
      typeId: 'made.up.foo',
    });
  });
});
