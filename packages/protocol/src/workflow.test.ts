import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Compile } from 'typebox/schema';
import { publicFixtures, publicValidator, skipWithoutPublicData } from './testing/public-schemas.ts';
import { workflow } from './testing/samples.ts';
import { WorkflowDefinition } from './workflow.ts';

const definition = Compile(WorkflowDefinition);

/** One function per closed level: where an unknown key is put. */
const CLOSED_LEVELS: Record<string, (doc: WorkflowDefinition) => object | undefined> = {
  workflow: (doc) => doc,
  node: (doc) => doc.nodes[0],
  'static port': (doc) => doc.nodes[0]?.inputs.fixed,
  'expression port': (doc) => doc.nodes[0]?.inputs.computed,
  'connection port': (doc) => doc.nodes[0]?.inputs.upstream,
  'variable port': (doc) => doc.nodes[0]?.inputs.total,
  edge: (doc) => doc.edges[0],
  condition: (doc) => doc.edges[0]?.condition,
  trigger: (doc) => doc.triggers[0],
  variable: (doc) => doc.variables[0],
  group: (doc) => doc.groups?.[0],
  channel: (doc) => doc.channels?.notes,
  'channel access': (doc) => {
    const access = doc.channels?.notes?.access;
    return typeof access === 'object' ? access : undefined;
  },
  defaults: (doc) => doc.defaults,
  'prompt refs': (doc) => doc.defaults?.promptRefs,
};

const OPEN_LEVELS: Record<string, (doc: WorkflowDefinition) => object | undefined> = {
  metadata: (doc) => doc.metadata,
  settings: (doc) => doc.settings,
  config: (doc) => doc.nodes[0]?.config,
};

function withUnknownKey(
  source: WorkflowDefinition,
  level: (doc: WorkflowDefinition) => object | undefined,
): WorkflowDefinition {
  const doc = structuredClone(source);
  const target = level(doc);
  assert.ok(target, 'the document uses this level');
  Object.assign(target, { gantryUnknown: 1 });
  return doc;
}

describe('workflow definition', () => {
  test('accepts a definition that uses every level', () => {
    assert.deepEqual([...definition.Errors(workflow)[1]], []);
  });

  for (const [name, level] of Object.entries(CLOSED_LEVELS)) {
    test(`refuses an unknown key on the ${name}`, () => {
      assert.equal(definition.Check(withUnknownKey(workflow, level)), false);
    });
  }

  for (const [name, level] of Object.entries(OPEN_LEVELS)) {
    test(`accepts an unknown key in ${name}`, () => {
      assert.equal(definition.Check(withUnknownKey(workflow, level)), true);
    });
  }

  for (const key of [
    'id',
    'name',
    'version',
    'nodes',
    'edges',
    'triggers',
    'variables',
    'metadata',
    'settings',
  ]) {
    test(`refuses a definition without ${key}`, () => {
      const doc = Object.fromEntries(Object.entries(workflow).filter(([name]) => name !== key));
      assert.equal(definition.Check(doc), false);
    });
  }

  test('refuses a definition without nodes and an id in capitals', () => {
    assert.equal(definition.Check({ ...workflow, nodes: [] }), false);
    assert.equal(definition.Check({ ...workflow, id: 'Invoice' }), false);
  });
});

describe('public workflow data', { skip: skipWithoutPublicData }, () => {
  test('the sample is valid under the public schema too', () => {
    assert.deepEqual(publicValidator('workflow-definition.schema.json')?.(workflow), []);
  });

  test('every public fixture is valid, and refused with an unknown key on it or on a node', () => {
    const fixtures = publicFixtures();
    assert.ok(fixtures.size > 0, 'there are fixtures');
    for (const [file, fixture] of fixtures) {
      assert.deepEqual([...definition.Errors(fixture)[1]], [], file);
      const doc = definition.Parse(fixture);
      assert.equal(definition.Check(withUnknownKey(doc, (root) => root)), false, file);
      assert.equal(definition.Check(withUnknownKey(doc, (root) => root.nodes[0])), false, file);
    }
  });
});
