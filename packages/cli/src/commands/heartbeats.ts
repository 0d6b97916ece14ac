import type { Heartbeat } from '@gantry/protocol';
import { resourceCommand } from '../resource-command.ts';
import { printable } from '../style.ts';

export const heartbeats = resourceCommand<Heartbeat>({
  name: 'heartbeats',
  id: 'heartbeatId',
  summary: 'show and remove workflows that watch something; docs/schedules.md says how to add them',
  async list(client) {
    const items = await client.heartbeats.list();
    return { items, answer: items };
  },
  columns: {
    HEARTBEAT: ({ heartbeatId }) => heartbeatId,
    WORKFLOW: ({ workflowId }) => printable(workflowId),
    EVERY: ({ intervalSec }) => `${intervalSec} s`,
    NEXT: ({ nextTickAt = 'evaluating' }) => nextTickAt,
    LAST: ({ lastTick }) => lastTick?.evaluated.status ?? '',
  },
  none: 'No heartbeats yet. Add one: POST /v1/host/gantry/heartbeats',
  get: (client, id) => client.heartbeats.get(id),
  remove: (client, id) => client.heartbeats.remove(id),
  options: {},
  examples: ['gantry heartbeats', 'gantry heartbeats show ID'],
});
