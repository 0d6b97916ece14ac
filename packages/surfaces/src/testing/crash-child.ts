/** A process that works as fast as it can, in several lanes for each work, and tells what was acknowledged. */
import { setTimeout as later } from 'node:timers/promises';
import { ERRORS, OpenwopError } from '@gantry/protocol';
import { openCrashCallGate } from './crash-call-gate.ts';
import { type ChildOptions, type FromChild, LANES, type ToChild } from './crash-talk.ts';
import { WORKS, type WorkName } from './crash-works.ts';

const HEAL_MS = 40_000;
const AGAIN_MS = 50;

const options: ChildOptions = JSON.parse(process.argv[2] ?? '{}');
const callGate = await openCrashCallGate(options);
const orders = { isEnding: false, back: Promise.withResolvers<void>() };
process.on('message', (order: ToChild) => {
  if (order === 'end') orders.isEnding = true;
  else orders.back.resolve();
});

/** Once it is on its way, the end of this process does not stop it. */
const tell = (told: FromChild): Promise<void> =>
  new Promise((resolve, reject) =>
    process.send!(told, (error: Error | null) => (error ? reject(error) : resolve())),
  );

/** As a node that the host runs again: after an outage is over, every call has to succeed before long. */
async function settle(work: WorkName, n: number): Promise<void> {
  for (let healsUntil = Number.POSITIVE_INFINITY; ; ) {
    try {
      const answer = (await WORKS[work].act(callGate.node(`${work}-${n}`), n)) ?? null;
      return await tell({ kind: 'acked', work, n, answer });
    } catch (error) {
      if (!(error instanceof OpenwopError)) throw error;
      if (error.code === 'effect_in_doubt') return tell({ kind: 'doubted', work, n });
      if (!ERRORS[error.code].retriable || Date.now() > healsUntil) throw error;
      await tell({ kind: 'refused', work, n, why: `${error.code}: ${error.message}` });
      await orders.back.promise;
      if (healsUntil === Number.POSITIVE_INFINITY) healsUntil = Date.now() + HEAL_MS;
      else await later(AGAIN_MS);
    }
  }
}

/** What is found at the end comes on one page. */
const AHEAD_MAX = 100;
const done = new Map(options.works.map((work): [WorkName, number] => [work, 0]));
const isAhead = (work: WorkName): boolean => (done.get(work) ?? 0) > Math.min(...done.values()) + AHEAD_MAX;

async function lane(work: WorkName, first: number): Promise<void> {
  for (let n = first; !orders.isEnding; n += LANES) {
    while (isAhead(work) && !orders.isEnding) await later(AGAIN_MS);
    await settle(work, n);
    done.set(work, (done.get(work) ?? 0) + 1);
  }
}

const firsts = Array.from({ length: LANES }, (_, index) => index);
await Promise.all(options.works.flatMap((work) => firsts.map((first) => lane(work, first))));
await callGate.close();
process.disconnect?.();
