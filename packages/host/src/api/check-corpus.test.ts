/** Seeded mistakes are reported where they are, and valid workflows without a report. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readSource } from '@gantry/packs';
import type { WorkflowCheck, WorkflowIssue } from '@gantry/protocol';
import fc from 'fast-check';
import { definitionOf, shapes } from '../../../engine/src/testing/random-workflow.ts';
import { publicFixturesFolder } from '../../../protocol/src/testing/public-schemas.ts';
import { packTest } from '../packs/testing/pack-test.ts';
import { child, dieOf, MISTAKES, mistaken, pack, sound } from './testing/check-corpus.ts';

const MISTAKEN = 200;
const VALID = 300;
const SAMPLES = ['workflows', 'examples/payout'].map(
  (folder) => new URL(`../../../../${folder}/`, import.meta.url),
);

const told = ({ severity, path, message, fix = '' }: WorkflowIssue): string =>
  `${severity} ${path} ${message}. ${fix}`;

for (const isClosed of [true, false])
  test(`${MISTAKEN / 2} mistakes are reported at their place alone, with ${isClosed ? 'closed' : 'open'} inputs of packs`, async (t) => {
    const { post, install, registered } = await packTest(t);
    await install(pack(isClosed));
    await registered(child);
    const kinds = Object.keys(MISTAKES);
    for (let at = 0; at < MISTAKEN / 2; at++) {
      const kind = kinds[at % kinds.length]!;
      const { definition, pointer } = mistaken(kind, dieOf(at * 2 + Number(isClosed)), at);
      const { issues }: WorkflowCheck = (await post('/v1/host/gantry/workflows:check', definition)).json();
      const where = `${kind}, seed ${at}: ${issues.map(told).join('\n')}`;
      assert.deepEqual(
        issues.map(({ path }) => path),
        [pointer],
        where,
      );
      const [{ nodeId, edgeId }] = issues as [WorkflowIssue];
      const part = /^\/(nodes|edges)\/(\d+)/.exec(pointer);
      const id = part ? definition[part[1] as 'nodes' | 'edges'][Number(part[2])]?.id : undefined;
      assert.equal(nodeId ?? edgeId, id, where);
    }
  });

/** True of public fixtures: they leave undeclared what the law lets be undeclared. */
const TRUE_OF_FIXTURES = [
  '/config/perWorkerInputMappings/conformance-dispatch-cross-worker-handoff-child-b/input',
  '/config/outputMapping/childOutcome',
];
const isTrue = ({ path, message }: WorkflowIssue): boolean =>
  TRUE_OF_FIXTURES.some((end) => path.endsWith(end)) || message.includes('provider_unavailable');

async function definitionsIn(folder: URL): Promise<unknown[]> {
  const files = (await readdir(folder)).filter((file) => /\.(json|yaml)$/.test(file)).sort();
  const sources = files.map(async (file) => readSource(file, await readFile(new URL(file, folder), 'utf8')));
  return (await Promise.all(sources)).map((source) => (source.kind === 'json' ? source.value : source));
}

test(`of ${VALID} valid workflows none is reported`, async (t) => {
  const fixtures = new URL(`file://${publicFixturesFolder}/`);
  const isThere = existsSync(fixtures);
  const { post, install, registered } = await packTest(t, {
    settings: { ...(isThere && { workflowsDir: publicFixturesFolder }) },
  });
  await install(pack(true));
  await registered(child);
  const samples = (await Promise.all(SAMPLES.map(definitionsIn))).flat();
  for (const sample of samples) await post('/v1/host/gantry/workflows', sample);
  const shaped = fc.sample(shapes(true), { numRuns: 80, seed: 1 }).map((shape, at) => ({
    // Nodes with outputs, since conditions read them
    ...definitionOf({ ...shape, outside: shape.outside.map(() => true) }),
    id: `shape-${at}`,
  }));
  const isServed = ({ issues }: WorkflowCheck): boolean =>
    issues.every(({ severity }) => severity !== 'error');
  const check = async (definition: unknown): Promise<WorkflowCheck> =>
    (await post('/v1/host/gantry/workflows:check', definition)).json();
  const answers = isThere ? await Promise.all((await definitionsIn(fixtures)).map(check)) : [];
  // Others need capabilities that this host lacks
  const served = answers.filter(isServed);
  assert.ok(!isThere || served.length > 60, `${served.length} fixtures are served`);
  const random = Array.from({ length: VALID - served.length - samples.length - shaped.length }, (_, at) =>
    sound(dieOf(at), at),
  );
  const others = await Promise.all([...samples, ...shaped, ...random].map(check));
  const all = [...served, ...others].flatMap(({ issues }) => issues.filter((issue) => !isTrue(issue)));
  assert.deepEqual(all.map(told), []);
  assert.equal(served.length + others.length, VALID);
});
