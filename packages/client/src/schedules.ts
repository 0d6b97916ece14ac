import type { CreateScheduleRequest, Schedule } from '@gantry/protocol';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

export interface SchedulePage {
  schedules: Schedule[];
  /** Pass as `before` to get the next, older page. */
  nextBefore?: string;
}

export interface SchedulePreview {
  cron: string;
  /** An IANA name; UTC when absent. */
  timezone?: string;
  count?: number;
}

export interface Schedules {
  /** Newest first. */
  list(page?: { before?: string; limit?: number }): Promise<SchedulePage>;
  get(scheduleId: string): Promise<Schedule>;
  create(request: CreateScheduleRequest): Promise<Schedule>;
  remove(scheduleId: string): Promise<Schedule>;
  pause(scheduleId: string): Promise<Schedule>;
  resume(scheduleId: string): Promise<Schedule>;
  /** The next times at which it starts a run. */
  next(scheduleId: string, options?: { count?: number }): Promise<string[]>;
  /** The same for a cron expression that no schedule has yet. */
  preview(request: SchedulePreview): Promise<string[]>;
}

const SCHEDULES = '/v1/host/gantry/schedules';

export function createSchedules(transport: Transport): Schedules {
  const { read, send, remove } = createCalls(transport);
  const schedulePath = (scheduleId: string) => `${SCHEDULES}/${encodeURIComponent(scheduleId)}`;
  return {
    list: (page = {}) => read(SCHEDULES, { ...page }),
    get: (scheduleId) => read(schedulePath(scheduleId)),
    create: (request) => send(SCHEDULES, request),
    remove: (scheduleId) => remove(schedulePath(scheduleId)),
    pause: (scheduleId) => send(`${schedulePath(scheduleId)}:pause`, {}),
    resume: (scheduleId) => send(`${schedulePath(scheduleId)}:resume`, {}),
    next: async (scheduleId, { count } = {}) =>
      (await read<{ times: string[] }>(`${schedulePath(scheduleId)}/next`, { count })).times,
    preview: async (request) => (await send<{ times: string[] }>(`${SCHEDULES}:preview`, request)).times,
  };
}
