/** The corpus of hostile modules: each is stopped with the right code, and the sandbox serves the next. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ESCAPES, type Escape } from './testing/escapes/index.ts';
import { runEscapes } from './testing/escapes/run.ts';
import { KINDS, lacks } from './testing/isolations.ts';
import { nodePack, startSandbox } from './testing/sandbox.ts';

test('the corpus is large enough', () => {
  const names = Object.values(ESCAPES).flatMap((family) => family.map(({ name }) => name));
  assert.ok(names.length >= 60, `${names.length} modules`);
});

/** What stops most of them is the same behind either wall, so behind the second every fifth is enough. */
const shareOf = (escapes: readonly Escape[], isFirst: boolean): readonly Escape[] =>
  isFirst ? escapes : escapes.filter((_, index) => index % 5 === 0);

const reasons = new Map(await Promise.all(KINDS.map(async (kind) => [kind, await lacks(kind)] as const)));
const [first] = KINDS.filter((kind) => reasons.get(kind) === undefined);

for (const isolation of KINDS)
  for (const [family, escapes] of Object.entries(ESCAPES))
    describe(`escapes behind ${isolation}: ${family}`, () => {
      test('each is stopped, and the next invocation works', async (t) => {
        const reason = reasons.get(isolation);
        if (reason) return t.skip(reason);
        await runEscapes(t, {
          sandbox: await startSandbox(t, { isolation }),
          escapes: shareOf(escapes, isolation === first),
          honest: await nodePack('return { status: "success", outputs: { fine: true } };'),
          packOf: ({ body, before }) => nodePack(body, before),
        });
      });
    });
