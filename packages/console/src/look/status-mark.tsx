import type { RunStatus } from '@gantry/protocol';
import type { ReactNode } from 'react';
import { words } from '../text/words.ts';

export type Mark = 'queued' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled';

const MARK_OF: Readonly<Record<RunStatus, Mark>> = {
  pending: 'queued',
  running: 'running',
  paused: 'paused',
  'waiting-approval': 'waiting',
  'waiting-input': 'waiting',
  'waiting-external': 'waiting',
  completed: 'completed',
  failed: 'failed',
  cancelling: 'cancelled',
  cancelled: 'cancelled',
};

export const markOf = (status: RunStatus): Mark => MARK_OF[status];

const cut = { fill: 'none', stroke: 'var(--panel)', strokeWidth: 1.7, strokeLinecap: 'round' } as const;
const ring = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.6 } as const;

/** Each has an outline of its own, so that they are told apart without colour. */
const SHAPES: Readonly<Record<Mark, ReactNode>> = {
  queued: <circle cx="8" cy="8" r="5.7" {...ring} strokeDasharray="2.2 2.28" />,
  running: (
    <>
      <circle cx="8" cy="8" r="6.2" {...ring} />
      <path d="M6.6 5.2v5.6L11 8z" fill="currentColor" />
    </>
  ),
  waiting: (
    <>
      <path d="M8 1.4 14.6 8 8 14.6 1.4 8z" {...ring} strokeLinejoin="round" />
      <path d="M8 5.4V8l1.7 1.2" {...ring} strokeLinecap="round" strokeLinejoin="round" />
    </>
  ),
  paused: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="2.5" {...ring} />
      <path d="M6.4 5.8v4.4M9.6 5.8v4.4" {...ring} strokeLinecap="round" />
    </>
  ),
  completed: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="m5 8.3 2 2 4-4.4" {...cut} strokeLinejoin="round" />
    </>
  ),
  failed: (
    <>
      <path d="M8 1.2 15.2 14H.8z" fill="currentColor" stroke="currentColor" strokeLinejoin="round" />
      <path d="M8 6v3.6M8 11.9v.1" {...cut} />
    </>
  ),
  cancelled: (
    <>
      <circle cx="8" cy="8" r="6.2" {...ring} />
      <path d="m4 12 8-8" {...ring} />
    </>
  ),
};

/** Sign, word and colour. In dense lists the words beside it say more than the status does. */
export function StatusMark({ status, wordless }: { status: RunStatus; wordless?: boolean }) {
  const mark = markOf(status);
  const word = words.status[status];
  return (
    <span className={`status ${mark}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" role="img" aria-label={word} aria-hidden={!wordless}>
        {SHAPES[mark]}
      </svg>
      {!wordless && word}
    </span>
  );
}
