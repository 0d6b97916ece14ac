import type { schedulesWire } from '@gantry/protocol';
import { SCHEDULES } from '@gantry/protocol/tables';
import { api, type Page, type ResourceApi } from './api.ts';
import type { Transport } from './transport.ts';

type Wire = typeof schedulesWire;
type All = ResourceApi<Wire>;

export type SchedulePage = Page<Wire>;
export type SchedulePreview = Parameters<All['preview']>[0];

export interface Schedules extends Omit<All, 'next' | 'preview'> {
  /** The next times at which it starts a run. */
  next(...args: Parameters<All['next']>): Promise<string[]>;
  /** The same for a cron expression that no schedule has yet. */
  preview(request: SchedulePreview): Promise<string[]>;
}

export function createSchedules(transport: Transport): Schedules {
  const schedules = api<Wire>(transport, SCHEDULES);
  return {
    ...schedules,
    next: async (...args) => (await schedules.next(...args)).times,
    preview: async (request) => (await schedules.preview(request)).times,
  };
}
