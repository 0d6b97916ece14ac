import { type Heartbeat, heartbeatsWire } from '@gantry/protocol';
import { resourceCommand } from '../resource-command.ts';

export const heartbeats = resourceCommand<Heartbeat>(heartbeatsWire, {
  summary: 'show and remove workflows that watch something; docs/schedules.md says how to add them',
  columns: {
    HEARTBEAT: 'heartbeatId',
    WORKFLOW: 'workflowId',
    EVERY: ({ intervalSec }) => `${intervalSec} s`,
    NEXT: ({ nextTickAt = 'evaluating' }) => nextTickAt,
    LAST: ({ lastTick }) => lastTick?.evaluated.status,
  },
  none: 'No heartbeats yet. Add one: POST /v1/host/gantry/heartbeats',
  examples: ['gantry heartbeats', 'gantry heartbeats show ID'],
});
