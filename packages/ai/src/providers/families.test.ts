import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ProviderFamily } from '../model.ts';
import { scriptedModel } from '../scripted/play.ts';
import { FAULT_NAMES, type FaultName, type ScriptTurn } from '../scripted/script.ts';
import { outcomeOf, reachOf, requestOf } from '../testing/asking.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import { loadFamily } from './families.ts';

const tools = [
  { name: 'search', parameters: { type: 'object', properties: { q: { type: 'string' } } } },
  { name: 'openwop:core.http', parameters: { type: 'object', properties: {} } },
];

const usage = { inputTokens: 12, outputTokens: 9 };
/** What every family can say. */
const TURNS: Readonly<Record<string, ScriptTurn>> = {
  text: { text: 'Grüße, 世界 👋 and more.', usage },
  pieces: { text: ['One ', 'two', ' three'], usage },
  empty: { text: '', usage },
  length: { text: 'It goes on and', finish: 'length', usage },
  thought: { reasoning: 'First this. Then that.', text: 'So it is.', usage },
  call: { text: 'Looking.', toolCalls: [{ name: 'search', arguments: { q: 'größe' } }], usage },
  'calls at once': {
    toolCalls: [
      { name: 'search', arguments: { q: 'a' } },
      { name: 'search', arguments: { q: 'b' } },
    ],
    usage,
  },
  'call without arguments': { toolCalls: [{ name: 'search' }], usage },
  'long text': { text: 'word '.repeat(100), usage },
  cached: { text: 'Hit.', usage: { ...usage, cacheReadTokens: 4 } },
};

/** Counts that no answer has. */
const LIES = [
  { inputTokens: -100_000 },
  { outputTokens: -1 },
  { inputTokens: 1.5, outputTokens: 0.25 },
  { inputTokens: 1e300 },
  { outputTokens: 9e15 },
  { cacheReadTokens: 40 },
] as const;

/** One turn that has all that may break. Who refuses calls no tools. */
const whole = (fault: FaultName): ScriptTurn => ({
  text: 'Grüße, 世界 and more of it.',
  ...(fault !== 'refusal' && {
    toolCalls: [
      { name: 'search', arguments: { q: 'größe' } },
      { name: 'search', arguments: { q: 'b' } },
    ],
  }),
  usage,
  fault,
  retryAfterMs: 2_000,
});

for (const { dialect, family: name } of DIALECTS) {
  let server: ModelServer;
  let family: ProviderFamily;
  before(async () => {
    server = await startModelServer(dialect);
    family = await loadFamily(name);
  });
  after(() => server.close());

  const ask = async (turn: ScriptTurn, silenceMs = 60_000) => {
    server.play('m', [turn]);
    return outcomeOf(family.chat, requestOf({ tools }), reachOf(server.baseUrl, { silenceMs }));
  };
  const scripted = (turn: ScriptTurn) =>
    outcomeOf(scriptedModel({ script: [turn] }), requestOf({ tools }), reachOf(''));

  for (const [what, turn] of Object.entries(TURNS))
    test(`${dialect.name}: ${what}`, async () => {
      assert.deepEqual(await ask(turn), await scripted(turn));
    });

  for (const lie of LIES)
    test(`${dialect.name}: usage of ${JSON.stringify(lie)} is as if there were none`, async () => {
      const { usage: told, text } = await ask({ text: 'Hi', usage: { ...usage, ...lie } });
      assert.deepEqual([told, text], [undefined, 'Hi']);
    });

  test(`${dialect.name}: a model whose name is too long is the one that was asked for`, async () => {
    assert.equal((await ask({ text: 'Hi', model: 'm'.repeat(300_000) })).model, 'm');
  });

  for (const fault of FAULT_NAMES) {
    const reason = dialect.cannot[fault];
    if (reason !== undefined) continue;
    test(`${dialect.name}: ${fault}`, async () => {
      const expected = await expectedOf(fault, scripted);
      const got = await ask(whole(fault), fault === 'silent' ? 50 : undefined);
      if (expected.failure?.kind === 'broken') {
        assert.deepEqual([got.failure?.kind, got.finish], ['broken', 'none']);
        assert.ok(expected.text.startsWith(got.text) || whole(fault).text?.includes(got.text));
      } else assert.deepEqual(got, expected);
    });
  }
}

/** A script is silent for a minute; what comes of it is told here. */
async function expectedOf(fault: FaultName, scripted: (turn: ScriptTurn) => ReturnType<typeof outcomeOf>) {
  return scripted(whole(fault === 'silent' ? 'cut' : fault));
}
