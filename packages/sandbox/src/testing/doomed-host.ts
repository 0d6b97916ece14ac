/** A host that starts a sandbox, keeps a pack busy in it, prints `busy` and waits to be killed. */
import { writeSync } from 'node:fs';
import { createEgress } from '@gantry/egress';
import { LOOPBACK_POLICY } from '../../../egress/src/testing/egress.ts';
import { createSandbox } from '../sandbox.ts';
import { invocationOf, nodePack } from './sandbox.ts';

const [workDir = '', body = ''] = process.argv.slice(2);
const sandbox = await createSandbox({
  isolation: 'os',
  workDir,
  warmMax: 1,
  idleMs: 60_000,
  egress: createEgress({ policy: LOOPBACK_POLICY }),
  now: () => performance.now(),
  log: () => {},
});
const { result } = await sandbox.invoke(
  invocationOf(await nodePack(`await ctx.emit({}); ${body}`), {
    emit: () => void writeSync(1, `busy ${sandbox.stats().isolation}\n`),
  }),
);
writeSync(1, `${JSON.stringify(result)}\n`);
await sandbox.stop();
