/** The corpus of hostile modules: each is stopped with the right code, and the sandbox serves the next. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { shareOf } from '../../protocol/src/testing/full-form.ts';
import type { Sandbox } from './sandbox.ts';
import { ESCAPES, type Escape } from './testing/escapes/index.ts';
import { type Corpus, runEscapes } from './testing/escapes/run.ts';
import { KINDS, lacks } from './testing/isolations.ts';
import { nodePack, packOf, startSandbox } from './testing/sandbox.ts';

test('the corpus is large enough', () => {
  const names = Object.values(ESCAPES).flatMap((family) => family.map(({ name }) => name));
  assert.ok(names.length >= 60, `${names.length} modules`);
});

/** What stops most of them is the same behind either wall, so the short form takes fewer behind the second. */
const everyNth = (isFirst: boolean): number => (isFirst ? 4 : 10);

/** Memory that they take would be counted for the next one in their process. */
const LARGE: ReadonlySet<string> = new Set(['wire', 'resources']);

/**
 * Those that do nothing when they load are nodes of one pack: the next one runs in the process that the last one left,
 * if that was not ended.
 */
async function hostileNodes(family: string, escapes: readonly Escape[]): Promise<Corpus['nodeOf']> {
  const isAlone = ({ before }: Escape): boolean => before !== undefined || LARGE.has(family);
  const members = escapes
    .filter((hostile) => !isAlone(hostile))
    .map(({ name, body }) => `${JSON.stringify(name)}: async (ctx) => { ${body} },`);
  const together = await packOf(`export const nodes = { ${members.join('\n')} };`);
  return async (hostile) =>
    isAlone(hostile)
      ? { code: await nodePack(hostile.body, hostile.before), typeId: 'test.node' }
      : { code: together, typeId: hostile.name };
}

const honest = await nodePack('return { status: "success", outputs: { fine: true } };');
const reasons = new Map(await Promise.all(KINDS.map(async (kind) => [kind, await lacks(kind)] as const)));
const [first] = KINDS.filter((kind) => reasons.get(kind) === undefined);

for (const isolation of KINDS) {
  let sandbox: Promise<Sandbox> | undefined;
  after(async () => (await sandbox)?.stop());
  for (const [family, escapes] of Object.entries(ESCAPES))
    describe(`escapes behind ${isolation}: ${family}`, () => {
      test('each is stopped, and the next invocation works', async (t) => {
        const reason = reasons.get(isolation);
        if (reason) return t.skip(reason);
        sandbox ??= startSandbox({ after: () => {} }, { isolation });
        await runEscapes(t, {
          sandbox: await sandbox,
          escapes: shareOf(escapes, everyNth(isolation === first)),
          honest,
          nodeOf: await hostileNodes(family, escapes),
        });
      });
    });
}
