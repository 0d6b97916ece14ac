import { type CreateScheduleRequest, given, type Schedule, schedulesWire } from '@gantry/protocol';
import { type Call, option } from '../command.ts';
import { readInputs } from '../inputs.ts';
import { UsageError } from '../io.ts';
import { print } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { readChoice, readDuration } from '../values.ts';

const MISSED = ['skip', 'fire-once', 'catch-up'] as const;

const whenOf = ({ cron, timezone, at }: Schedule): string =>
  cron === undefined ? `once at ${at}` : `${cron} ${timezone ?? ''}`.trimEnd();

function lastOf({ lastFire, lastError }: Schedule): string {
  const failedLast = lastError && (!lastFire || lastError.scheduledFor > lastFire.scheduledFor);
  if (failedLast) return `${lastError.code}: ${lastError.message}`;
  return lastFire ? `run ${lastFire.runId}` : '';
}

async function readRequest(
  { args, client }: Call,
  workflowId: string,
  cron: string | undefined,
): Promise<CreateScheduleRequest> {
  const at = args.text('at');
  const delay = args.text('in');
  const delayMs = delay === undefined ? undefined : readDuration(delay, '--in');
  if ([cron, at, delayMs].filter((way) => way !== undefined).length !== 1) {
    throw new UsageError(
      'Give exactly one time: a cron expression ("0 9 * * 1-5"), --at TIME or --in DURATION.',
    );
  }
  const missedTicks = readChoice(args.text('missed'), { known: MISSED, noun: 'policy' });
  const inputs = args.list('input');
  const tags = args.list('tag');
  return {
    workflowId,
    ...given({ cron, at, delayMs, timezone: args.text('timezone'), endAt: args.text('until'), missedTicks }),
    ...(inputs.length > 0 && { inputs: await readInputs(client, workflowId, inputs) }),
    ...(tags.length > 0 && { tags: [...tags] }),
  };
}

/** Ids have no spaces and no leading @; a cron expression has one of these. */
const isCron = (word: string): boolean => /^@|\s/.test(word.trim());

async function next(call: Call, word = ''): Promise<void> {
  const { args, client } = call;
  const count = args.whole('count', 1, 100) ?? 5;
  if (!isCron(word) && args.text('timezone') !== undefined)
    throw new UsageError('--timezone is for a cron expression. A schedule has its own.');
  const times = isCron(word)
    ? await client.schedules.preview({ cron: word, count, ...args.given('timezone') })
    : await client.schedules.next(word, { count });
  print(
    call,
    times,
    times.length === 0 ? 'It has no further fire times.\n' : times.map((time) => `${time}\n`).join(''),
  );
}

const line = ({ scheduleId, status, nextFireAt }: Schedule): string =>
  `${scheduleId} ${status}${nextFireAt === undefined ? '' : `, next ${nextFireAt}`}`;

export const schedules = resourceCommand<Schedule>(schedulesWire, {
  summary: 'start runs at set times',
  details:
    '`add` takes a cron expression of 5 or 6 fields, --at or --in. `next` also takes a cron expression that no\n' +
    'schedule has yet, to see when it would fire.',
  listed: 50,
  columns: {
    SCHEDULE: 'scheduleId',
    WORKFLOW: 'workflowId',
    STATUS: 'status',
    WHEN: whenOf,
    NEXT: ({ nextFireAt = 'never' }) => nextFireAt,
    LAST: lastOf,
  },
  none: 'No schedules yet. Add one: gantry schedules add WORKFLOW "0 9 * * 1-5"',
  add: {
    takes: '<workflow> [cron]',
    async act(call, workflowId = '', cron) {
      const made = await call.client.schedules.create(await readRequest(call, workflowId, cron));
      print(call, made, `${line(made)}\n`);
    },
  },
  line,
  actions: { next: { takes: '<scheduleId>', act: next } },
  options: {
    at: option('TIME', 'once, at 2030-01-31T09:00:00Z or +01:00 in place of Z', { of: ['add'] }),
    in: option('D', 'once, after 30s, 15m, 2h or 3d', { of: ['add'] }),
    timezone: option('ZONE', 'such as Europe/Berlin (UTC)', { of: ['add', 'next'] }),
    until: option('TIME', 'do not fire after this time', { of: ['add'] }),
    missed: option('P', `ticks missed while no host was running: ${MISSED.join(', ')}`, { of: ['add'] }),
    input: option('K=V', 'one input; may be repeated', { of: ['add'], multiple: true, short: 'i' }),
    tag: option('TAG', 'of the runs; may be repeated', { of: ['add'], multiple: true }),
    count: option('N', 'how many times, 1 to 100 (5)', { of: ['next'] }),
  },
  examples: [
    'gantry schedules add report "0 9 * * 1-5" --timezone Europe/Berlin --input days=1',
    'gantry schedules add cleanup --in 15m',
    'gantry schedules next "*/10 * * * *"',
  ],
});
