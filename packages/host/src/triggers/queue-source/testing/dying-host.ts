/**
 * A host that kills itself around the commit that starts the run of a message: `before` it, or `after` it and before
 * the message is acknowledged. Its clock is ahead, so that what an earlier one held has come free.
 */
import { openSqlite, type Store } from '@gantry/store';
import { createHost } from '../../../host.ts';
import { readSettings } from '../../../settings.ts';
import { publish } from './queue-test.ts';

const [moment, aheadMs, folder, topic, ...payloads] = process.argv.slice(2);
const dataDir = `${folder}/data`;
const now = (): number => Date.now() + Number(aheadMs);
const die = (): void => void process.kill(process.pid, 'SIGKILL');

const dying = (store: Store): Store => ({
  ...store,
  async commit(groups) {
    const starts = groups.some((group) => group.some(({ kind }) => kind === 'createRun'));
    if (starts && moment === 'before') die();
    const results = await store.commit(groups);
    if (starts && moment === 'after') die();
    return results;
  },
});

const settings = {
  ...readSettings([], { GANTRY_LOG: 'silent', GANTRY_PORT: '0' }),
  dataDir,
  workflowsDir: `${folder}/workflows`,
};
const host = await createHost({ settings, store: dying(await openSqlite({ dataDir })), now });
for (const payload of payloads) await publish(host.services.surfaces.queue, topic ?? '', payload);
await host.services.start();
