/** What the gallery shows: the shapes of real data, with long names and odd values. */
import type { InterruptVote, Json, RunStatus } from '@gantry/protocol';
import { hostNow } from '../../look/clock.ts';
import type { Filter, FilterKind } from '../../look/filter-bar.tsx';
import type { Lane } from '../../run/timeline-lanes.tsx';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const NOW = hostNow();

export interface SampleRun {
  readonly id: string;
  readonly workflow: string;
  readonly status: RunStatus;
  readonly says: string;
  readonly startedAt: number;
  readonly tookMs: number;
  readonly costUsd: number;
}

const KINDS: readonly (readonly [string, RunStatus, string, number])[] = [
  ['invoice', 'failed', 'Failed at charge: card_declined', 4_120],
  ['onboarding', 'waiting-approval', 'Waits for approval by finance', 3 * HOUR],
  ['nightly-report', 'running', 'Retries fetch in 40s: timeout', 12_000],
  ['invoice', 'completed', '', 2_310],
  ['import-catalogue', 'running', 'Runs transform, 412 of 1,204 items', 5 * MINUTE],
  ['support-triage', 'waiting-input', 'Waits for an answer: which account?', 22 * MINUTE],
  ['invoice', 'completed', '', 1_870],
  [
    'contract-review-with-a-rather-long-name-that-does-not-fit',
    'waiting-external',
    'Waits for the event contract.signed',
    52 * HOUR,
  ],
  ['nightly-report', 'cancelled', 'Cancelled by ada', 61_000],
  ['onboarding', 'paused', 'Paused by ada', 40 * MINUTE],
  ['sync-ledger', 'pending', 'Queued: 12 runs of this tenant are before it', 900],
  [
    'sync-ledger',
    'failed',
    'Failed at post: the ledger answered 409 Conflict, since period 2026-10 is closed for postings',
    940,
  ],
  ['invoice', 'cancelling', 'Cancelling, 1 node is still running', 8_000],
  ['import-catalogue', 'completed', '', 9 * MINUTE],
];

export const runs = (count: number): SampleRun[] =>
  Array.from({ length: count }, (_, at) => {
    const [workflow, status, says, tookMs] = KINDS[at % KINDS.length]!;
    return {
      id: `run_01m7gq90vvym6e2adc9249${(at + 10).toString(36).padStart(4, '0')}`,
      workflow,
      status,
      says,
      startedAt: NOW - at * 4 * MINUTE - 30_000,
      tookMs,
      costUsd: at % 3 === 0 ? 0 : (at % 7) * 0.013,
    };
  });

export const filterKinds: readonly FilterKind[] = [
  {
    key: 'status',
    label: 'Status',
    values: ['failed', 'running', 'waiting-approval', 'completed', 'cancelled'].map((value) => ({
      value,
      label: value,
    })),
  },
  {
    key: 'workflow',
    label: 'Workflow',
    values: ['invoice', 'onboarding', 'heartbeat', 'nightly-report', 'sync-ledger'].map((value) => ({
      value,
      label: value,
    })),
  },
  {
    key: 'tag',
    label: 'Tag',
    values: [
      { value: 'eu', label: 'eu' },
      { value: 'us', label: 'us' },
    ],
  },
  {
    key: 'since',
    label: 'Started',
    values: [
      { value: '24h', label: 'in the last 24 hours' },
      { value: '7d', label: 'in the last 7 days' },
    ],
  },
];

export const filters: readonly Filter[] = [
  { key: 'status', values: ['failed', 'waiting-approval'], not: false },
  { key: 'workflow', values: ['heartbeat'], not: true },
  { key: 'since', values: ['24h'], not: false },
];

const T0 = NOW - 3 * HOUR - 30_000;
export const lanes: readonly Lane[] = [
  {
    id: 'start',
    name: 'start',
    status: 'completed',
    depth: 0,
    spans: [{ kind: 'completed', from: T0, to: T0 + 40 }],
  },
  {
    id: 'fetch',
    name: 'fetch',
    status: 'completed',
    depth: 0,
    times: 3,
    spans: [{ kind: 'completed', from: T0 + 60, to: T0 + 3_800 }],
  },
  {
    id: 'approve',
    name: 'approve',
    status: 'completed',
    depth: 0,
    spans: [{ kind: 'waiting', from: T0 + 3_900, to: T0 + 3 * HOUR }],
  },
  {
    id: 'charge',
    name: 'charge the card of the customer',
    status: 'failed',
    depth: 0,
    spans: [
      { kind: 'failed', from: T0 + 3 * HOUR + 100, to: T0 + 3 * HOUR + 2_100 },
      { kind: 'failed', from: T0 + 3 * HOUR + 6_100, to: T0 + 3 * HOUR + 8_900 },
    ],
  },
  {
    id: 'receipt',
    name: 'receipt',
    status: 'running',
    depth: 1,
    spans: [{ kind: 'running', from: T0 + 3 * HOUR + 9_500 }],
  },
  {
    id: 'print',
    name: 'print',
    status: 'waiting-external',
    depth: 2,
    spans: [{ kind: 'waiting', from: T0 + 3 * HOUR + 12_000 }],
  },
];

export const value: Json = {
  amount: 4_200,
  currency: 'EUR',
  approved: true,
  note: null,
  card: '[REDACTED:stripe-key]',
  customer: {
    id: 'cus_9921',
    name: 'Ada Lovelace',
    address: { street: 'St James’s Square 12', city: 'London' },
  },
  lines: [
    { sku: 'A-100', count: 2, price: 900 },
    { sku: 'B-7', count: 1, price: 2_400 },
  ],
  text: 'A text that is longer than its column, so that it has to go on in a second line without pushing anything aside.',
  empty: {},
};

export const votes: readonly InterruptVote[] = [
  { voter: 'ada', approve: true, comment: 'Checked against the quote.' },
];

export const points = (count: number, top: number) =>
  Array.from({ length: count }, (_, at) => ({
    at: NOW - (count - at) * MINUTE,
    value: Math.round(top * (0.5 + 0.35 * Math.sin(at / 4) + 0.15 * Math.sin(at * 1.7))),
  }));
