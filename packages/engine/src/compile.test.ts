import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WorkflowDefinition } from '@gantry/protocol';
import { checkInputs, compile, DefinitionError, type DefinitionIssue } from './index.ts';
import { edge, fixed, formula, node, workflow } from './testing/workflow.ts';

function issuesOf(definition: WorkflowDefinition): readonly DefinitionIssue[] {
  try {
    compile(definition);
  } catch (error) {
    if (error instanceof DefinitionError) return error.issues;
    throw error;
  }
  return [];
}

const pathsOf = (definition: WorkflowDefinition): string[] => issuesOf(definition).map((issue) => issue.path);

describe('compile', () => {
  test('says which node was meant, but not for thousands of names', () => {
    const nodes = Array.from({ length: 200 }, (_, n) => node(`step-${n}`));
    const edges = Array.from({ length: 300 }, (_, n) => edge(`step-0>stpe-${n}`));
    const issues = issuesOf(workflow(nodes, edges));
    const [, , , , , , , seventh] = issues;
    assert.deepEqual([seventh?.message, seventh?.fix], ['There is no node stpe-7', 'Did you mean step-7?']);
    assert.equal(issues.filter(({ fix }) => fix !== undefined).length, 100);
    assert.equal(issues.length, 300);
  });

  test('names every problem at once', () => {
    const definition = workflow(
      [node('a'), node('a'), node('b', 'core.unknown'), node('c', 'core.a2a.invoke')],
      [edge('a>x'), edge('y>b', { id: 'a>x' })],
      { settings: { compensation: {} } as WorkflowDefinition['settings'] },
    );
    const issues = issuesOf(definition);
    assert.deepEqual(
      issues.map((issue) => issue.path),
      [
        '/nodes/1/id',
        '/edges/1/id',
        '/nodes/2/typeId',
        '/nodes/3/typeId',
        '/edges/0/targetNodeId',
        '/edges/1/sourceNodeId',
        '/settings/compensation',
      ],
    );
    assert.deepEqual(issues[2]?.details, {
      requiredCapability: 'core.unknown',
      offendingTypeId: 'core.unknown',
      nodeId: 'b',
    });
    assert.equal(issues[3]?.code, 'capability_required');
    assert.equal(issues[3]?.details?.requiredCapability, 'core.a2a.invoke');
    assert.equal(issues[6]?.details?.requiredCapability, 'compensation');
  });

  test('refuses what it does not serve rather than ignore it', () => {
    const agent = { agentId: 'core.some.agent', channel: 'stable' };
    const definition = workflow(
      [node('a', 'core.identity', { config: { memoryAction: 'x' }, agent })],
      [],
      {},
    );
    assert.deepEqual(
      issuesOf(definition).map(({ path, code, details }) => [path, code, details?.requiredCapability]),
      [
        ['/nodes/0/config/memoryAction', 'capability_required', 'memory.supported'],
        ['/nodes/0/agent/channel', undefined, undefined],
      ],
    );
  });

  test('checks ports, expressions, patterns and settings', () => {
    const definition = workflow(
      [
        node('a', 'core.noop', {
          inputs: {
            one: { type: 'connection', nodeId: 'z', outputKey: 'x' },
            two: { type: 'variable', variableName: 'z' },
            three: formula('1 +'),
            four: formula('nodes.z.outputs.x'),
            constructor: fixed(1),
          },
          settings: { maxRetries: -1, timeoutMs: 'soon' },
        }),
        node('b'),
      ],
      [
        edge('a>b', { condition: { type: 'regex', left: 'output', right: '(a' }, targetInput: 'valueOf' }),
        edge('b>a', { condition: { type: 'equals', right: 1 } }),
        edge('a>a', { condition: { type: 'contains', left: 'output' } }),
      ],
      { variables: [{ name: 'n', type: 'number', defaultValue: 'x' }] },
    );
    assert.deepEqual(pathsOf(definition), [
      '/edges/0/targetInput',
      '/variables/0/defaultValue',
      '/nodes/0/settings/maxRetries',
      '/nodes/0/settings/timeoutMs',
      '/nodes/0/inputs/one/nodeId',
      '/nodes/0/inputs/two/variableName',
      '/nodes/0/inputs/three/expression',
      '/nodes/0/inputs/four/expression',
      '/nodes/0/inputs/constructor',
      '/edges/0/condition/right',
      '/edges/1/condition/left',
      '/edges/2/condition/right',
    ]);
  });

  test('checks the config of each type', () => {
    const paths = pathsOf(
      workflow([
        node('a', 'core.delay', { config: { ms: -1 } }),
        node('b', 'core.delay'),
        node('c', 'core.loop', { config: { count: 1.5, maxIterations: 0 } }),
        node('d', 'core.merge', { config: { mode: 'set' } }),
        node('e', 'core.setVariable', { config: { name: 'none', value: 1 } }),
        node('f', 'core.setVariable', { config: { variables: { none: 1 } } }),
        node('g', 'core.getVariable', { config: { name: 'none' } }),
        node('h', 'core.conditional', { config: { expression: 'variables.' } }),
        node('i', 'core.conditional', { config: { type: 'equals', right: 1 } }),
        node('k', 'core.conditional', { config: { type: 'near', left: 'x', right: 1 } }),
        node('j', 'core.conformance.side-effect', { config: { effects: 101, idempotent: 1 } }),
      ]),
    );
    assert.deepEqual(paths, [
      '/nodes/0/config/ms',
      '/nodes/1/config',
      '/nodes/2/config/count',
      '/nodes/2/config/maxIterations',
      '/nodes/3/config/mode',
      '/nodes/4/config/name',
      '/nodes/5/config/variables/none',
      '/nodes/6/config/name',
      '/nodes/7/config/expression',
      '/nodes/8/config/left',
      '/nodes/9/config/type',
      '/nodes/10/config/idempotent',
      '/nodes/10/config/effects',
    ]);
  });

  test('refuses names that every object answers to', () => {
    const definition = workflow([node('constructor'), node('__proto__')], [], {
      variables: [{ name: 'toString', type: 'string' }],
    });
    assert.deepEqual(pathsOf(definition), ['/nodes/0/id', '/nodes/1/id', '/variables/0/name']);
  });

  test('orders nodes by depth, then id', () => {
    const plan = compile(
      workflow([node('z'), node('c'), node('b'), node('a')], ['z>c', 'z>b', 'c>a', 'b>a', 'z>a']),
    );
    assert.deepEqual(
      plan.order.map((item) => item.id),
      ['z', 'b', 'c', 'a'],
    );
  });

  test('without a root, starts at the first listed node and finds the closing edge', () => {
    const plan = compile(
      workflow([node('supervisor'), node('dispatch')], ['dispatch>supervisor', 'supervisor>dispatch']),
    );
    assert.deepEqual(
      plan.order.map((item) => item.id),
      ['supervisor', 'dispatch'],
    );
    assert.deepEqual(
      plan.nodes.get('supervisor')?.loopbacksIn.map((item) => item.id),
      ['dispatch>supervisor'],
    );
  });

  test('knows what each loop contains, inner loops within outer ones', () => {
    const plan = compile(
      workflow(
        [node('outer'), node('inner'), node('body'), node('tail'), node('end')],
        ['outer>inner', 'inner>body', 'body>inner', 'inner>tail', 'tail>outer', 'outer>end'],
      ),
    );
    const loops = Object.fromEntries(plan.loops.map((loop) => [loop.head.id, [...loop.bodyIds].sort()]));
    assert.deepEqual(loops, {
      inner: ['body', 'inner'],
      outer: ['body', 'inner', 'outer', 'tail'],
    });
    assert.deepEqual(plan.loops.find((loop) => loop.head.id === 'outer')?.innerEdgeIds, ['body>inner']);
  });
});

describe('hostile definitions', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => node(`n${index}`));

  test('size is bounded', () => {
    assert.deepEqual(pathsOf(workflow(many(2_001))), ['/nodes']);
    const edges = Array.from({ length: 10_001 }, (_, index) => edge('n0>n1', { id: `e${index}` }));
    assert.deepEqual(pathsOf(workflow(many(2), edges)), ['/edges']);
    const loops = Array.from({ length: 101 }, (_, index) => `n${index}>n${index}`);
    assert.deepEqual(pathsOf(workflow(many(101), loops)), ['/edges']);
    const text = `"${'x'.repeat(4_000)}"`;
    const inputs = Object.fromEntries(many(70).map(({ id }, index) => [id, formula(`${text} + "${index}"`)]));
    assert.equal(pathsOf(workflow([node('a', 'core.noop', { inputs })])).length, 5);
  });

  test('so are patterns, in number and in size', () => {
    const patterns = Array.from({ length: 3_000 }, (_, index) =>
      formula(`"".matches("x{${900 + (index % 90)}}${index}")`),
    );
    const inputs = Object.fromEntries(patterns.map((port, index) => [`p${index}`, port]));
    const before = performance.now();
    const issues = issuesOf(workflow([node('a', 'core.noop', { inputs })]));
    assert.equal(issues.length, 2_900);
    assert.match(issues[0]?.message ?? '', /at most 100 patterns/);
    assert.ok(performance.now() - before < 20_000);
  });

  test('the largest allowed compile soon, chain or mesh', () => {
    const chain = Array.from({ length: 1_999 }, (_, index) => `n${index}>n${index + 1}`);
    const mesh = Array.from({ length: 10_000 }, (_, index) =>
      edge(`n${index % 1_999}>n${1 + ((index * 7_919) % 1_999)}`, { id: `e${index}` }),
    ).filter((item) => Number(item.sourceNodeId.slice(1)) < Number(item.targetNodeId.slice(1)));
    const before = performance.now();
    assert.equal(compile(workflow(many(2_000), chain)).order.length, 2_000);
    assert.equal(compile(workflow(many(2_000), mesh)).order.length, 2_000);
    assert.ok(performance.now() - before < 10_000);
  });
});

describe('checkInputs', () => {
  const plan = compile(
    workflow([node('a')], [], {
      variables: [
        { name: 'id', type: 'string', required: true, format: 'uuid' },
        { name: 'size', type: 'number', required: true, defaultValue: 3 },
        { name: 'list', type: 'array' },
        { name: 'map', type: 'object' },
      ],
    }),
  );

  test('wants required values, and the declared types', () => {
    assert.deepEqual(
      checkInputs(plan, { list: {}, map: [] }).map((issue) => issue.path),
      ['/inputs/id', '/inputs/list', '/inputs/map'],
    );
    assert.deepEqual(
      checkInputs(plan, { id: null }).map((issue) => issue.path),
      ['/inputs/id'],
    );
  });

  test('never checks formats, nor inputs that nothing declares', () => {
    assert.deepEqual(checkInputs(plan, { id: 'no uuid', other: 1 }), []);
  });
});
