import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerOf } from '../answer.ts';
import type { ModelRequest } from '../model.ts';
import { scriptedModel } from '../scripted/play.ts';
import type { ScriptTurn } from '../scripted/script.ts';
import { reachOf, requestOf } from '../testing/asking.ts';
import { DIALECTS } from '../testing/dialects.ts';
import { type ModelServer, startModelServer } from '../testing/model-server.ts';
import { loadFamily } from './families.ts';

const SOURCES = [
  { url: 'https://a.example/1', title: 'First', snippet: 'What the first page says.' },
  { url: 'https://b.example/2', title: 'Second' },
];
/** The library sends the tool of Gemini to models alone whose names it knows. */
const MODEL = 'gemini-2.5-flash';
const asking: ModelRequest = requestOf({ model: MODEL, search: { sites: ['a.example', 'b.example'] } });

/** How each asks for a search of these sites. */
const ASKED: Readonly<Record<string, RegExp>> = {
  anthropic: /"type":"web_search_20250305","name":"web_search","max_uses":1,"allowed_domains":\["a.example"/,
  openai: /"max_tool_calls":1,.*"type":"web_search","filters":\{"allowed_domains":\["a.example"/,
  google: /"tools":\[\{"googleSearch":\{\}\}\]/,
};

for (const { dialect, family: name } of DIALECTS.filter(({ family }) => family in ASKED)) {
  let server: ModelServer;
  before(async () => {
    server = await startModelServer(dialect);
  });
  after(() => server.close());
  const ask = async (turn: ScriptTurn) => {
    server.play(MODEL, [turn]);
    return answerOf((await loadFamily(name)).chat.stream(asking, reachOf(server.baseUrl)));
  };

  test(`${name}: a search finds pages, once each`, async () => {
    const turn = { text: 'Pages say so.', sources: SOURCES, usage: { inputTokens: 12, outputTokens: 9 } };
    const { sources, text, end } = await ask(turn);
    const scripted = await answerOf(scriptedModel({ script: [turn] }).stream(asking, reachOf('')));
    // The Responses API cites pages without a word of theirs
    const expected = name === 'openai' ? SOURCES.map(({ url, title }) => ({ url, title })) : scripted.sources;
    assert.deepEqual(sources, expected);
    assert.deepEqual([text, end?.finish, end?.usage], [scripted.text, 'stop', turn.usage]);
    assert.match(JSON.stringify(server.requests.at(-1)?.body), ASKED[name]!);
  });

  test(`${name}: a search without results is one, an answer without a search is none`, async () => {
    assert.deepEqual((await ask({ text: 'Nothing.', sources: [] })).sources, []);
    assert.equal((await ask({ text: 'From memory.' })).sources, undefined);
  });

  if (name !== 'google')
    test(`${name}: a search that failed is a broken answer`, async () => {
      await assert.rejects(ask({ text: 'Sorry.', sources: null }), { kind: 'broken' });
    });
}
