/** The names of resources. Nothing is imported at run time: it is all that a browser has to load. */
import type { Table } from './wire.ts';

export const SCHEDULES = {
  path: 'schedules',
  id: 'scheduleId',
  item: { pause: 'write', resume: 'write', next: 'read' },
  all: { preview: 'read' },
} as const satisfies Table;

export const HEARTBEATS = {
  path: 'heartbeats',
  id: 'heartbeatId',
  item: { ticks: 'read' },
} as const satisfies Table;
