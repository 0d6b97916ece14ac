/**
 * What every backend must do when this process or the backend is killed amid writes.
 *
 * C1  What was acknowledged is there.
 * C2  Nothing is there twice: a call that is asked for again, answered or not, is the same call, and is answered as
 *     it was. A call of which nobody knows the end says so, and is not repeated.
 * C3  When the backend is back, calls succeed again without anybody doing anything.
 *
 * A failure names its seed: `GANTRY_CRASH_SEED` runs it again, `GANTRY_SOAK_ROUNDS` says how often to kill.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { OpenwopError } from '@gantry/protocol';
import { LOADERS } from '../../../protocol/src/testing/loaders.ts';
import type { Data } from '../calls/data.ts';
import type { BackendSettings } from '../open-port.ts';
import {
  type CrashCallGate,
  type CrashCallGateOptions,
  openCrashCallGate,
} from '../testing/crash-call-gate.ts';
import type { FoundServer } from '../testing/crash-servers.ts';
import { type ChildOptions, type FromChild, LANES, type ToChild } from '../testing/crash-talk.ts';
import { type Found, WORKS, type WorkName } from '../testing/crash-works.ts';
import { freshFolder } from '../testing/data-dir.ts';
import type { PrivateServer } from '../testing/server-kind.ts';

export interface CrashBackend {
  readonly works: readonly WorkName[];
  /** May put files into the folder. */
  settingsOf(url: string, folder: string): BackendSettings;
}

const SEED = Number(process.env.GANTRY_CRASH_SEED ?? Date.now() % 1_000_000);
const ROUNDS = process.env.GANTRY_SOAK_ROUNDS;
const SCRIPT = join(import.meta.dirname, '../testing/crash-child.ts');
const TIMEOUT_MS = 280_000;
/** Of each work, on the average, before something dies. */
const [ACKS_MIN, ACKS_MORE] = [3, 12];

/** Of each work. */
interface Heard {
  readonly acked: Map<number, Data>;
  readonly doubted: Set<number>;
  /** The last of them. */
  refusal?: string;
}
type Hearing = ReadonlyMap<WorkName, Heard>;

export function surfaceCrashContract(
  name: string,
  found: FoundServer | 'no server',
  { works, settingsOf }: CrashBackend,
): void {
  const skip = typeof found === 'object' && 'skip' in found ? found.skip : false;
  const timeout = TIMEOUT_MS * Number(ROUNDS ?? 1);
  test(`${name}: killed amid writes (seed ${SEED})`, { skip, timeout }, async (t) => {
    const folder = freshFolder();
    t.after(folder.remove);
    const server = typeof found === 'object' && 'open' in found ? await found.open() : null;
    t.after(() => server?.stop());
    const backends = settingsOf(server?.url ?? '', folder.path);
    const next = random(SEED);
    const callGateOf = (round: number) => ({ dataDir: folder.path, backends, tenant: `crash-${round}` });
    for (let round = 0; round < Number(ROUNDS ?? (server ? 2 : 1)); round++) {
      await prepare(works, callGateOf(round));
      const afterAcks = works.length * (ACKS_MIN + Math.floor(next() * ACKS_MORE));
      const dies = { afterAcks, server: round % 2 === 1 ? server : null };
      const heard = await work({ ...callGateOf(round), works }, dies);
      await check(works, callGateOf(round), heard);
    }
  });
}

async function prepare(works: readonly WorkName[], options: CrashCallGateOptions): Promise<void> {
  const those = works.filter((name) => WORKS[name].prepare);
  if (those.length === 0) return;
  const callGate = await openCrashCallGate(options);
  try {
    for (const name of those) await WORKS[name].prepare?.(callGate.node(`${name}-prepare`));
  } finally {
    await callGate.close();
  }
}

interface Death {
  readonly afterAcks: number;
  /** Null: the process that works dies. */
  readonly server: PrivateServer | null;
}

/** Answers what was acknowledged when all is over. */
async function work(options: ChildOptions, { afterAcks, server }: Death): Promise<Hearing> {
  const child = fork(SCRIPT, [JSON.stringify(options)], { execArgv: [...LOADERS, '--no-warnings'] });
  const closed = once(child, 'close');
  const order = (word: ToChild) => child.send(word);
  const hearing = listen(child, options.works);
  const acks = () => options.works.map((name) => hearing.get(name)?.acked.size ?? 0);
  const sum = () => acks().reduce((total, each) => total + each);
  try {
    await until(child, hearing, () => sum() >= afterAcks && acks().every((each) => each > 0));
    if (server !== null) {
      await server.kill();
      await server.start();
      order('back');
      const before = acks();
      const isBack = (each: number, index: number) => each > (before[index] ?? 0) + LANES;
      await until(child, hearing, () => acks().every(isBack)); // C3
      order('end');
      const [code] = await closed;
      assert.equal(code, 0, 'the process goes on through the death of the server');
    }
  } finally {
    child.kill('SIGKILL');
    await closed;
  }
  return hearing;
}

function listen(child: ChildProcess, works: readonly WorkName[]): Hearing {
  const hearing: Hearing = new Map(works.map((name) => [name, { acked: new Map(), doubted: new Set() }]));
  child.on('message', (told: FromChild) => {
    const heard = hearing.get(told.work) ?? assert.fail(told.work);
    if (told.kind === 'acked') heard.acked.set(told.n, told.answer);
    else if (told.kind === 'doubted') heard.doubted.add(told.n);
    else heard.refusal = told.why;
  });
  return hearing;
}

const STANDSTILL_MS = 60_000;

/** Resolves with the message that makes it so; rejects when none can come any more, or none comes. */
function until(child: ChildProcess, hearing: Hearing, isSo: () => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = (told?: FromChild): void => {
    if (told?.kind !== 'refused') timer.refresh();
    if (isSo()) resolve();
  };
  const fail = (what: string) => (): void => {
    const counts = Array.from(
      hearing,
      ([name, { acked, doubted, refusal }]) =>
        `${name} ${acked.size}+${doubted.size} (last refusal: ${refusal})`,
    );
    reject(new Error(`The process that works ${what}. Acknowledged and in doubt: ${counts.join(', ')}`));
  };
  const timer = setTimeout(fail('stands still'), STANDSTILL_MS);
  const gone = fail('has ended');
  child.on('message', look).on('close', gone);
  look();
  return promise.finally(() => {
    clearTimeout(timer);
    child.off('message', look).off('close', gone);
  });
}

async function check(
  works: readonly WorkName[],
  options: CrashCallGateOptions,
  heard: Hearing,
): Promise<void> {
  const callGate = await openCrashCallGate(options);
  try {
    for (const name of works) {
      const told = heard.get(name) ?? assert.fail(name);
      await repeat(callGate, name, told);
      const found = await WORKS[name].find(callGate.node(`${name}-find`), told);
      compare(name, told, found);
    }
  } finally {
    await callGate.close();
  }
}

/** The last call that every lane was told of, and the one that it may have been in when it died. */
async function repeat(callGate: CrashCallGate, name: WorkName, { acked, doubted }: Heard): Promise<void> {
  for (let lane = 0; lane < LANES; lane++) {
    let n = lane;
    while (acked.has(n) || doubted.has(n)) n += LANES;
    const before = acked.get(n - LANES);
    if (before !== undefined)
      assert.deepEqual(await again(callGate, name, n - LANES), before, `${name} ${n - LANES} again`);
    const answer = await again(callGate, name, n);
    if (answer === 'in doubt') doubted.add(n);
    else acked.set(n, answer);
  }
}

async function again(callGate: CrashCallGate, name: WorkName, n: number): Promise<Data | 'in doubt'> {
  try {
    return (await WORKS[name].act(callGate.node(`${name}-${n}`), n)) ?? null;
  } catch (error) {
    if (error instanceof OpenwopError && error.code === 'effect_in_doubt') return 'in doubt';
    throw error;
  }
}

/** C1 and C2. */
function compare(name: WorkName, { acked, doubted }: Heard, found: Found): void {
  if (found.kind === 'total') {
    const isSo = found.count >= acked.size && found.count <= acked.size + doubted.size;
    assert.ok(isSo, `${name}: ${found.count} are there, of ${acked.size} and perhaps ${doubted.size}`);
    return;
  }
  const times = Map.groupBy(found.numbers, (n) => n);
  const lost = [...acked.keys()].filter((n) => !times.has(n) && !found.unsure?.has(n));
  const twice = [...times].flatMap(([n, all]) => (all.length > 1 ? [n] : []));
  const strange = [...times.keys()].filter((n) => !acked.has(n) && !doubted.has(n));
  assert.deepEqual({ lost, twice, strange }, { lost: [], twice: [], strange: [] }, name);
}

/** Small seeded generator, so that a failure can be run again. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
