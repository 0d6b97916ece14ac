// Compares what our families of providers make of the test servers with what the official SDKs make of them: text,
// tool calls, usage and the status of errors. The SDKs are installed in a temporary folder, not in this project.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { answerOf, loadFamily } from '../packages/ai/src/index.ts';
import { reachOf, requestOf } from '../packages/ai/src/testing/asking.ts';
import { DIALECTS } from '../packages/ai/src/testing/dialects.ts';
import { startModelServer } from '../packages/ai/src/testing/model-server.ts';

const SDKS = ['@anthropic-ai/sdk', 'openai', '@google/genai'];

const usage = { inputTokens: 12, outputTokens: 9 };
const calls = [
  { name: 'search', arguments: { q: 'größe' } },
  { name: 'search', arguments: { q: 'b' } },
];
const TURNS = {
  text: { text: 'Grüße, 世界 👋 and more.', usage },
  length: { text: 'It goes on and', finish: 'length', usage },
  calls: { text: 'Looking.', toolCalls: calls, usage },
  'calls in pieces': { toolCalls: calls, usage, fault: 'args-in-pieces' },
  'split characters': { text: 'Grüße, 世界 👋', usage, fault: 'split-utf8' },
  slow: { text: 'One two three', usage, fault: 'slow' },
  cached: { text: 'Hit.', usage: { ...usage, cacheReadTokens: 4 } },
  limited: { fault: '429-retry-after' },
  'limited without a time': { fault: '429' },
  overloaded: { fault: 'overloaded' },
  failed: { fault: '500' },
  'timed out': { fault: '408' },
  gateway: { fault: 'html-502' },
  'gateway says no': { fault: 'html-403' },
  'key rejected': { fault: '401' },
  'unknown model': { fault: 'unknown-model' },
  'too long': { fault: 'too-long' },
  rejected: { fault: '400' },
  cut: { text: 'one two three four', usage, fault: 'cut' },
  empty: { text: 'one two three four', usage, fault: 'empty' },
  garbled: { text: 'one two three four', usage, fault: 'garbled' },
};

/** Where an SDK takes for an answer what is a failed try here: a stream without its end. */
const LENIENT = { google: ['empty'] };

const tool = { name: 'search', parameters: { type: 'object', properties: { q: { type: 'string' } } } };
const content = 'Hello';

/** What an official SDK makes of a dialect. */
const asks = {
  async anthropic({ Anthropic }, baseUrl) {
    const client = new Anthropic({ apiKey: 'k', baseURL: baseUrl.replace(/\/v1$/, ''), maxRetries: 0 });
    const tools = [{ name: tool.name, input_schema: tool.parameters }];
    const messages = [{ role: 'user', content }];
    const stream = client.messages.stream({ model: 'm', max_tokens: 256, messages, tools });
    const answer = await stream.finalMessage();
    const texts = answer.content.filter(({ type }) => type === 'text');
    const { input_tokens, cache_read_input_tokens: read = 0, output_tokens } = answer.usage;
    return {
      text: texts.map(({ text }) => text).join(''),
      calls: answer.content
        .filter(({ type }) => type === 'tool_use')
        .map(({ name, input }) => ({ name, arguments: input })),
      usage: [input_tokens + read, output_tokens, read],
    };
  },
  async openai({ OpenAI }, baseUrl) {
    const client = new OpenAI({ apiKey: 'k', baseURL: baseUrl, maxRetries: 0 });
    const tools = [{ type: 'function', ...tool }];
    const stream = client.responses.stream({ model: 'm', input: content, tools, store: false });
    const answer = await stream.finalResponse();
    const { input_tokens, output_tokens, input_tokens_details: details } = answer.usage;
    return {
      text: answer.output_text,
      calls: answer.output
        .filter(({ type }) => type === 'function_call')
        .map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) })),
      usage: [input_tokens, output_tokens, details.cached_tokens],
    };
  },
  async 'openai-compatible'({ OpenAI }, baseUrl) {
    const client = new OpenAI({ apiKey: 'k', baseURL: baseUrl, maxRetries: 0 });
    const stream = client.chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content }],
      tools: [{ type: 'function', function: tool }],
      stream_options: { include_usage: true },
    });
    let told = '';
    let totals = [];
    const made = [];
    for await (const { choices, usage: counted } of stream) {
      told += choices[0]?.delta.content ?? '';
      for (const {
        index,
        function: { name = '', arguments: piece = '' },
      } of choices[0]?.delta.tool_calls ?? []) {
        made[index] ??= { name: '', text: '' };
        made[index].name += name;
        made[index].text += piece;
      }
      if (counted)
        totals = [
          counted.prompt_tokens,
          counted.completion_tokens,
          counted.prompt_tokens_details.cached_tokens,
        ];
    }
    return {
      text: told,
      calls: made.map(({ name, text }) => ({ name, arguments: JSON.parse(text) })),
      usage: totals,
    };
  },
  async google({ GoogleGenAI }, baseUrl) {
    const client = new GoogleGenAI({
      apiKey: 'k',
      httpOptions: { baseUrl: new URL(baseUrl).origin, apiVersion: 'v1beta', retryOptions: { attempts: 1 } },
    });
    const functionDeclarations = [{ name: tool.name, parametersJsonSchema: tool.parameters }];
    const stream = await client.models.generateContentStream({
      model: 'm',
      contents: content,
      config: { tools: [{ functionDeclarations }] },
    });
    let told = '';
    let totals = [];
    const made = [];
    for await (const { candidates = [], usageMetadata: counted } of stream) {
      for (const { text = '', functionCall } of candidates[0]?.content?.parts ?? []) {
        told += text;
        if (functionCall) made.push({ name: functionCall.name, arguments: functionCall.args });
      }
      if (counted)
        totals = [
          counted.promptTokenCount,
          counted.candidatesTokenCount,
          counted.cachedContentTokenCount ?? 0,
        ];
    }
    return { text: told, calls: made, usage: totals };
  },
};
asks.ollama = asks['openai-compatible'];

async function ours(family, baseUrl) {
  const request = requestOf({ tools: [tool], messages: [{ role: 'user', content }] });
  const { text, toolCalls, end } = await answerOf(family.chat.stream(request, reachOf(baseUrl)));
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = end.usage;
  return {
    text,
    calls: toolCalls.map(({ name, arguments: given }) => ({ name, arguments: given })),
    usage: [inputTokens, outputTokens, cacheReadTokens],
  };
}

/** An answer, or the status of its error; one without a status is a broken answer. */
const outcome = (asking) => asking.then(JSON.stringify, (error) => `failed ${error.status ?? 'broken'}`);

async function installed(folder) {
  writeFileSync(path.join(folder, 'package.json'), '{"private":true,"type":"module"}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...SDKS], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const require = createRequire(path.join(folder, 'package.json'));
  const load = async (name) => import(pathToFileURL(require.resolve(name)));
  const [anthropic, openai, google] = await Promise.all(SDKS.map(load));
  return { Anthropic: anthropic.default, OpenAI: openai.default, GoogleGenAI: google.GoogleGenAI };
}

const folder = mkdtempSync(path.join(tmpdir(), 'gantry-sdks-'));
let same = 0;
let different = 0;
try {
  const sdks = await installed(folder);
  for (const { dialect, family: name } of DIALECTS) {
    const server = await startModelServer(dialect);
    const family = await loadFamily(name);
    for (const [what, turn] of Object.entries(TURNS)) {
      if (dialect.cannot[turn.fault] || LENIENT[dialect.name]?.includes(turn.fault)) continue;
      server.play('m', [turn]);
      const theirs = await outcome(asks[dialect.name](sdks, server.baseUrl));
      server.play('m', [turn]);
      const own = await outcome(ours(family, server.baseUrl));
      if (theirs === own) same++;
      else {
        different++;
        console.log(`${dialect.name}, ${what}:\n  SDK  ${theirs}\n  ours ${own}`);
      }
    }
    await server.close();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${same} equal, ${different} different`);
process.exitCode = different === 0 ? 0 : 1;
