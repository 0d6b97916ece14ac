import { feature } from '../feature.ts';
import type { Packs } from '../packs/packs.ts';
import type { Parts } from '../parts.ts';
import type { Settings } from '../settings.ts';
import { loadWorkflowsFolder } from './folder.ts';
import { createWorkflows } from './workflows.ts';

interface Needs extends Pick<Parts, 'store' | 'now' | 'log'> {
  readonly packs: Packs;
  readonly settings: Pick<Settings, 'databaseUrl' | 'workflowsDir'>;
}

/** Another process may serve the same database, so its registrations must become visible here soon. */
const SHARED_DATABASE_CACHE_MS = 2_000;

export const workflowsFeature = feature({
  name: 'workflows',
  kinds: [],
  async open({ settings: { databaseUrl, workflowsDir }, log, ...parts }: Needs) {
    const cacheMs = databaseUrl === undefined ? Number.POSITIVE_INFINITY : SHARED_DATABASE_CACHE_MS;
    const workflows = createWorkflows({ ...parts, cacheMs });
    /** Ids from the workflows folder. */
    const served = await loadWorkflowsFolder(workflowsDir, workflows, log);
    return { ...workflows, served };
  },
});
