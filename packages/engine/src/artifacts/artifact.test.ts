import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@gantry/protocol';
import type { ArtifactType, MadeArtifact, PackNodeType, SyncOn } from '../index.ts';
import { assertSound, answer as give } from '../testing/answers.ts';
import { branch, replay, told } from '../testing/forks.ts';
import { edge, fixed, node, Trial, workflow } from '../testing/workflow.ts';

const NOTE = 'vendor.acme.note';
const schema: JsonObject = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string' } },
  additionalProperties: false,
};
const pack: PackNodeType = {
  typeId: 'vendor.acme.write',
  packName: 'vendor.acme.tools',
  packVersion: '1.0.0',
  integrity: 'sha256-abc',
  effect: 'pure',
  sensitiveOutputs: [],
  artifact: { typeId: NOTE },
};

interface Given {
  readonly type?: Partial<ArtifactType>;
  readonly syncOn?: SyncOn;
}

class Work extends Trial {
  readonly made: MadeArtifact[] = [];

  constructor(definition: Parameters<typeof workflow>[0] | ReturnType<typeof workflow>, given: Given = {}) {
    const whole = Array.isArray(definition) ? workflow(definition) : definition;
    const type = { schema, ...given.type };
    const artifact = { typeId: NOTE, ...(given.syncOn && { syncOn: given.syncOn }) };
    super(
      whole,
      {},
      {
        packTypes: (typeId) => (typeId === pack.typeId ? { ...pack, artifact } : undefined),
        artifactTypes: (typeId) => (typeId === NOTE ? type : undefined),
      },
    );
  }

  override give(command: Parameters<Trial['give']>[0]) {
    const decision = super.give(command);
    this.made.push(...(decision.artifacts ?? []));
    return decision;
  }

  created = (): JsonObject[] =>
    this.events.filter(({ type }) => type === 'artifact.created').map(({ payload }) => payload);
}

const begin = (...given: ConstructorParameters<typeof Work>): Work => new Work(...given).start().advance();
const note = (title: Json, extras = {}) =>
  node('note', 'core.identity', { artifactType: NOTE, inputs: { title: fixed(title) }, ...extras });
const answer = (work: Work, nodeId: string, value: Json) => {
  const decision = give(work, nodeId, value);
  work.advance();
  return decision;
};
const TYPE = { registered: true, registrationSource: 'pack', artifactType: NOTE };

describe('the artifact of a node', () => {
  test('is told after its end and before that of the run, with what is to be stored', () => {
    const work = begin([note('Hello')]);
    assert.deepEqual(work.log().slice(-3), ['node.completed note', 'artifact.created note', 'run.completed']);
    const created = { ...TYPE, artifactId: 'note', nodeId: 'note', version: '1', summary: 'Hello' };
    assert.deepEqual(work.created(), [created]);
    assert.deepEqual(work.made, [{ created, schemaVersion: 0, content: { title: 'Hello' } }]);
    assertSound(work);
  });

  test('that does not fit its type fails the node with the path, and nothing is told or stored', () => {
    const work = begin([note(1)]);
    assert.equal(work.run.status, 'failed');
    const { code, message, details } = work.run.error!;
    assert.equal(code, 'artifact_invalid');
    assert.match(message, /note does not fit its type vendor\.acme\.note: \/title/);
    assert.deepEqual(details, { path: '/title', artifactType: NOTE });
    assert.deepEqual([work.created(), work.made], [[], []]);
    assert.deepEqual(told(replay(work).events, work), told(work.events, work));
  });

  test('of a type that nobody registers is taken as it is, with a warning to the author', () => {
    const work = begin([note(1, { artifactType: 'vendor.acme.nope' })]);
    assert.deepEqual(work.created()[0], {
      artifactId: 'note',
      artifactType: 'vendor.acme.nope',
      nodeId: 'note',
      version: '1',
      registered: false,
    });
    assert.deepEqual(work.plan.warnings[0]?.path, '/nodes/0/artifactType');
  });

  test('is the output `artifact` where there is one, under an id that can stand in an address', () => {
    const id = 'a note/with a slash';
    const odd = { ...note(1), id, inputs: { artifact: fixed({ title: 'In' }), more: fixed(1) } };
    const work = begin([odd]);
    assert.deepEqual(work.made[0]?.content, { title: 'In' });
    assert.match(String(work.created()[0]?.artifactId), /^~digest of/);
  });

  test('shows no sensitive output, and no secret', () => {
    const type = { schema: { type: 'object' } };
    const masked = begin([note('x', { outputSensitivity: { title: true } })], { type });
    assert.deepEqual(masked.made[0]?.content, { title: '[REDACTED]' });
    const work = new Work([note('s3cret')]);
    const redact = (value: unknown) => JSON.parse(JSON.stringify(value).replaceAll('s3cret', '***'));
    Object.assign(work.plan, { redact });
    work.start().advance();
    assert.deepEqual(work.made[0]?.content, { title: '***' });
  });

  test('of a pack is declared by its manifest, and each visit of a loop makes a version', () => {
    const loop = node('loop', 'core.loop', { config: { count: 2 } });
    const condition = { type: 'equals', left: 'output.done', right: false } as const;
    const work = begin(
      workflow([loop, node('draft', pack.typeId)], [edge('loop>draft', { condition }), 'draft>loop']),
    );
    work.succeed('draft', { title: 'one' }).succeed('draft', { title: 'two' });
    assert.deepEqual(
      work.made.map(({ created, content }) => [created.version, content]),
      [
        ['1', { title: 'one' }],
        ['2', { title: 'two' }],
      ],
    );
    assertSound(work);
    assert.deepEqual(told(replay(work).events, work), told(work.events, work));
  });
});

const gated = (syncOn: SyncOn, config: JsonObject = {}) =>
  begin(
    workflow(
      [node('draft', pack.typeId), node('mid'), node('gate', 'core.approvalGate', { config })],
      ['draft>mid', 'mid>gate'],
    ),
    { syncOn },
  ).succeed('draft', { title: 'Draft' });

const EDITS = { actions: ['accept', 'reject', 'edit-accept'] };

describe('an artifact that is stored on approval', () => {
  test('waits for a gate behind it, which asks about it, and is not stored when it is rejected', () => {
    for (const action of ['accept', 'reject']) {
      const work = gated('approval');
      assert.deepEqual(work.created(), []);
      const { data } = work.run.interrupts.get('gate')!;
      assert.deepEqual(
        [data.artifactId, data.artifactType, data.artifactData],
        ['draft', NOTE, { title: 'Draft' }],
      );
      answer(work, 'gate', { action });
      assert.equal(work.created().length, action === 'accept' ? 1 : 0);
      assertSound(work);
      assert.deepEqual(told(replay(work).events, work), told(work.events, work));
    }
  });

  test('is stored as it was edited; an edit that does not fit its type is refused', () => {
    const work = gated('approval', EDITS);
    const edit = (title: Json) =>
      answer(work, 'gate', { action: 'edit-accept', editedArtifactData: { title } });
    const refused = edit(1);
    assert.equal(refused.refusal?.code, 'validation_error');
    assert.equal(refused.refusal?.details?.path, '/editedArtifactData/title');
    edit('Better');
    assert.deepEqual(work.made[0]?.content, { title: 'Better' });
    assert.equal(work.created()[0]?.nodeId, 'draft');
    assert.deepEqual(told(replay(work).events, work), told(work.events, work));
  });

  test('is not stored by a gate for another type', () => {
    const work = gated('approval', { artifactType: 'vendor.acme.other' });
    answer(work, 'gate', { action: 'accept' });
    assert.deepEqual(work.created(), []);
  });

  test('is stored with the end of pack code that asked for the approval itself', () => {
    for (const action of ['accept', 'reject']) {
      const work = begin([node('draft', pack.typeId)], { syncOn: 'approval' });
      work.settle('draft', { suspend: { key: 'k', request: { kind: 'approval', title: 'Fine?' } } });
      answer(work, 'draft', { action });
      if (work.status('draft') === 'running') work.succeed('draft', { title: 'Mine' });
      assert.equal(work.created().length, action === 'accept' ? 1 : 0, action);
    }
  });
});

describe('an artifact that somebody stores', () => {
  const register = (work: Work, edited?: { content: JsonObject; base: number }) =>
    work.give({
      type: 'registerArtifact',
      now: work.now,
      nodeId: 'draft',
      by: 'key-1',
      ...(edited && { edited }),
    });

  test('is told once, then by edited versions that are based on the last one', () => {
    const work = gated('manual', {});
    assert.deepEqual(work.created(), []);
    assert.equal(register(work).refusal, undefined);
    assert.equal(register(work).refusal?.code, 'conflict');
    const content = { title: 'Edited' };
    assert.equal(register(work, { content, base: 0 }).refusal?.code, 'artifact_conflict');
    assert.equal(register(work, { content: { title: 1 }, base: 1 }).refusal?.code, 'validation_error');
    assert.equal(register(work, { content, base: 1 }).refusal, undefined);
    assert.deepEqual(
      work.created().map(({ version, registeredBy }) => [version, registeredBy]),
      [
        ['1', 'key-1'],
        ['2', 'key-1'],
      ],
    );
    assert.deepEqual(work.made.at(-1)?.content, content);
    answer(work, 'gate', { action: 'accept' });
    assertSound(work);
    assert.deepEqual(told(replay(work).events, work), told(work.events, work));
    assert.equal(register(work, { content, base: 2 }).refusal?.code, 'conflict');
  });

  test('stays with a branch that was made after it', () => {
    const work = gated('manual', {});
    register(work);
    const forked = branch(work, work.events.length);
    assert.deepEqual(forked.run.artifacts.get('draft'), { version: 1, visit: 1 });
  });
});
