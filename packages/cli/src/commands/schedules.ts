import type { CreateScheduleRequest, Schedule } from '@gantry/protocol';
import { type Actions, runAction, usageOf, wordsMax } from '../actions.ts';
import type { Args } from '../args.ts';
import { type Call, type Command, flag, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { printJson, printListing } from '../output.ts';
import { printable } from '../style.ts';
import { readChoice, readDuration, readPairs } from '../values.ts';

const MISSED = ['skip', 'fire-once', 'catch-up'] as const;

const whenOf = ({ cron, timezone, at }: Schedule): string =>
  cron === undefined ? `once at ${at}` : `${cron} ${timezone ?? ''}`.trimEnd();

function lastOf({ lastFire, lastError }: Schedule): string {
  const failedLast = lastError && (!lastFire || lastError.scheduledFor > lastFire.scheduledFor);
  if (failedLast) return printable(`${lastError.code}: ${lastError.message}`);
  return lastFire ? `run ${lastFire.runId}` : '';
}

function readRequest(args: Args, workflowId: string, cron: string | undefined): CreateScheduleRequest {
  const at = args.text('at');
  const delay = args.text('in');
  const delayMs = delay === undefined ? undefined : readDuration(delay, '--in');
  if ([cron, at, delayMs].filter((way) => way !== undefined).length !== 1) {
    throw new UsageError(
      'Say when, in one way: a cron expression ("0 9 * * 1-5"), --at TIME or --in DURATION.',
    );
  }
  const timezone = args.text('timezone');
  const endAt = args.text('until');
  const missedTicks = readChoice(args.text('missed'), { known: MISSED, noun: 'policy' });
  const inputs = args.list('input');
  const tags = args.list('tag');
  return {
    workflowId,
    ...(cron !== undefined && { cron }),
    ...(at !== undefined && { at }),
    ...(delayMs !== undefined && { delayMs }),
    ...(timezone !== undefined && { timezone }),
    ...(endAt !== undefined && { endAt }),
    ...(missedTicks && { missedTicks }),
    ...(inputs.length > 0 && { inputs: readPairs(inputs, '--input') }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
}

function say({ args, io }: Call, schedule: Schedule): void {
  const next = schedule.nextFireAt === undefined ? '' : `, next ${schedule.nextFireAt}`;
  if (args.flag('json')) printJson({ io }, schedule);
  else io.stdout.write(`${schedule.scheduleId} ${schedule.status}${next}\n`);
}

async function list(call: Call): Promise<void> {
  const { args, client } = call;
  const before = args.text('before');
  const limit = args.whole('limit', 1, 200) ?? 50;
  const page = await client.schedules.list({ limit, ...(before !== undefined && { before }) });
  if (args.flag('json')) return printJson(call, page);
  printListing(call, {
    headings: ['SCHEDULE', 'WORKFLOW', 'STATUS', 'WHEN', 'NEXT', 'LAST'],
    rows: page.schedules.map((each) => [
      each.scheduleId,
      each.workflowId,
      each.status,
      whenOf(each),
      each.nextFireAt ?? 'never',
      lastOf(each),
    ]),
    none: 'No schedules yet. Add one: gantry schedules add WORKFLOW "0 9 * * 1-5"',
    more: page.nextBefore && `gantry schedules ls --before ${page.nextBefore}`,
  });
}

/** Ids have no spaces, cron expressions always do. */
async function next(call: Call, word = ''): Promise<void> {
  const { args, client, io } = call;
  const count = args.whole('count', 1, 100) ?? 5;
  const timezone = args.text('timezone');
  const times = /\s/.test(word.trim())
    ? await client.schedules.preview({ cron: word, count, ...(timezone !== undefined && { timezone }) })
    : await client.schedules.next(word, { count });
  if (args.flag('json')) return printJson(call, times);
  io.stdout.write(times.length === 0 ? 'It fires no more.\n' : times.map((time) => `${time}\n`).join(''));
}

const ACTIONS: Actions = {
  ls: { act: list },
  add: {
    takes: '<workflow> [cron]',
    async act(call, workflowId = '', cron) {
      say(call, await call.client.schedules.create(readRequest(call.args, workflowId, cron)));
    },
  },
  rm: {
    takes: '<scheduleId>',
    async act({ client, io }, scheduleId = '') {
      await client.schedules.remove(scheduleId);
      io.stdout.write(`${scheduleId} removed\n`);
    },
  },
  pause: {
    takes: '<scheduleId>',
    act: async (call, id = '') => say(call, await call.client.schedules.pause(id)),
  },
  resume: {
    takes: '<scheduleId>',
    act: async (call, id = '') => say(call, await call.client.schedules.resume(id)),
  },
  next: { takes: '<scheduleId>', act: next },
};

export const schedules: Command = {
  name: 'schedules',
  summary: 'start runs by the clock',
  usage: usageOf('schedules', ACTIONS),
  details:
    '`add` takes a cron expression of 5 or 6 fields, --at or --in. `next` also takes a cron expression that no\n' +
    'schedule has yet, to see when it would fire.',
  options: {
    at: option('TIME', 'add: once, at 2030-01-31T09:00:00Z or +01:00 in place of Z'),
    in: option('D', 'add: once, after 30s, 15m, 2h or 3d'),
    timezone: option('ZONE', 'add, next: such as Europe/Berlin (UTC)'),
    until: option('TIME', 'add: fire no more after this time'),
    missed: option('P', `add: ticks while no host was there: ${MISSED.join(', ')}`),
    input: option('K=V', 'add: one input; may be repeated', { multiple: true, short: 'i' }),
    tag: option('TAG', 'add: of the runs; may be repeated', { multiple: true }),
    count: option('N', 'next: how many times, 1 to 100 (5)'),
    limit: option('N', 'ls: how many, 1 to 200 (50)'),
    before: option('CURSOR', 'ls: go on where an earlier page ended'),
    json: flag('print JSON'),
  },
  examples: [
    'gantry schedules add report "0 9 * * 1-5" --timezone Europe/Berlin --input days=1',
    'gantry schedules add cleanup --in 15m',
    'gantry schedules next "*/10 * * * *"',
  ],
  words: { min: 0, max: wordsMax(ACTIONS) },
  run: (call) => runAction('schedules', ACTIONS, call),
};
