// The answers of every surface method, through the call gate and the embedded backends. `surface-calls.jsonl` has the
// calls in their order: path, input, and a name by which later inputs refer to the answer (`$name.member`).
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PDFDocument } from 'pdf-lib';
import sharp from 'sharp';
import { createEgressByPurpose } from '../../packages/egress/src/index.ts';
import { loopbackEgress } from '../../packages/egress/src/testing/egress.ts';
import { httpServer } from '../../packages/egress/src/testing/server.ts';
import { freshFolder } from '../../packages/surfaces/src/testing/data-dir.ts';
import { openTestSurfaces } from '../../packages/surfaces/src/testing/surfaces.ts';
import { callGateOf, callsOf, factsOf, nodeOf } from '../../packages/surfaces/src/testing/test-call-gate.ts';

/** Far from the day of any recording, so that times which follow from it are recorded as they are. */
const NOW = Date.UTC(2100, 0, 1);
const WRONG_VALUES = [undefined, null, -1.5, {}];
/** These keep nothing, and each starts a process. */
const PURE = /^fs\.(image|pdf|archive)\./;
const CALLS = path.join(import.meta.dirname, 'surface-calls.jsonl');

/** Yields `[name, answer]`, where a failure is its code. */
export async function* recordSurfaces() {
  const calls = readFileSync(CALLS, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const folder = freshFolder();
  const closing = [folder.remove];
  const web = await startWeb({ after: (close) => closing.push(close) });
  const egress = { ...createEgressByPurpose(), public: loopbackEgress() };
  const { surfaces, close } = await openTestSurfaces(folder.path, { now: () => NOW, egress });
  try {
    const world = callGateOf(surfaces);
    world.clock.now = NOW;
    const { table } = world.callGate;
    const missing = Object.keys(table).filter((each) => !calls.some(([called]) => called === each));
    if (missing.length > 0) throw new Error(`No call of ${missing.join(', ')} in ${CALLS}`);
    yield ['paths', table];
    yield ['discovery', world.callGate.discovery()];
    yield ['capabilities', Object.fromEntries(world.callGate.capabilities())];
    const named = { ...(await samples()), web };
    yield* inOrder(world, calls, named, 'first');
    yield* inOrder(
      world,
      calls.filter(([called]) => !PURE.test(called)),
      named,
      'again',
    );
    // A stream without an end would never answer
    yield* refused(
      world,
      calls.filter(([called]) => table[called] !== 'stream'),
      named,
    );
  } finally {
    await close();
    for (const each of closing) each();
  }
}

async function samples() {
  const background = { r: 200, g: 10, b: 10 };
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background } });
  const document = await PDFDocument.create();
  for (const text of ['one', 'two']) document.addPage([200, 200]).drawText(text);
  return {
    png: new Uint8Array(await image.png().toBuffer()),
    pdf: await document.save(),
    hello: new Uint8Array(Buffer.from('hello')),
    empty: new Uint8Array(),
    long: 'x'.repeat(5_000),
    huge: 'x'.repeat(1_048_577),
  };
}

/** Answers what is sent. Its port, which is another one each time, is left out of answers. */
async function startWeb(t) {
  const port = await httpServer(t, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.sendDate = false;
    const isMoved = request.url === '/moved';
    response.writeHead(isMoved ? 302 : 200, isMoved ? { location: '/echo' } : { 'x-method': request.method });
    response.end(body);
  });
  const origin = `http://127.0.0.1:${port}`;
  return { echo: `${origin}/echo`, moved: `${origin}/moved` };
}

/** All calls of one node. The second time it runs, writes answer what they answered before. */
async function* inOrder({ callGate }, calls, named, time) {
  const sent = [];
  const call = callsOf(callGate.open(factsOf()), sent);
  for (const [index, [called, input, name]] of calls.entries()) {
    const answer = await answerOf(() => call(called, resolve(input, named)));
    if (name) named[name] = answer;
    yield [`${time} ${index} ${called}`, sent.length > 0 ? { answer, sent: sent.splice(0) } : answer];
  }
}

/** The last input of each path with every member missing or wrong, and nodes that may not make the call. */
async function* refused(world, calls, named) {
  for (const [called, input] of new Map(calls)) {
    const right = resolve(input, named);
    const wrong = Object.keys(right).flatMap((name) =>
      WRONG_VALUES.map((value) => [`${name} ${JSON.stringify(value)}`, { ...right, [name]: value }]),
    );
    const answers = {};
    const ask = async (name, facts, ...args) => {
      const call = nodeOf(world, { ...facts, nodeId: `${called} ${name}` });
      answers[name] = await answerOf(() => call(called, ...args));
    };
    for (const [name, ...args] of [['nothing'], ['null', null], ['other', { other: 1 }], ...wrong])
      await ask(name, {}, ...args);
    for (const facts of [{ effect: 'pure' }, { granted: [] }, { peers: ['host.cache'] }])
      await ask(JSON.stringify(facts), facts, right);
    yield [`refused ${called}`, answers];
  }
}

function resolve(input, named) {
  if (typeof input === 'string' && input.startsWith('$'))
    return input
      .slice(1)
      .split('.')
      .reduce((value, name) => value?.[name], named);
  if (Array.isArray(input)) return input.map((each) => resolve(each, named));
  if (typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, resolve(value, named)]));
}

const answerOf = async (act) => {
  try {
    const answer = await act();
    if (typeof answer?.url === 'string') answer.url = answer.url.replace(/:\d+/, '');
    return answer;
  } catch ({ code, message }) {
    return { failed: code ?? message };
  }
};
