import { Hourglass } from 'lucide-react';
import { words } from '../text/words.ts';
import { useLook, useNow } from './clock.ts';
import { ago, agoChangesIn, duration, moment } from './format.ts';
import { Tip } from './tip.tsx';

/** A relative time, with the exact one beside it. */
export function Ago({ at }: { at: number }) {
  const { zone } = useLook();
  const now = useNow((time) => agoChangesIn(at, time));
  return (
    <Tip text={moment(at, zone)}>
      <time dateTime={new Date(at).toISOString()}>{ago(at, now)}</time>
    </Tip>
  );
}

const SECOND = 1_000;

/** How long something has been going on. */
export const Elapsed = ({ since }: { since: number }) => (
  <span className="number">{duration(Math.floor((useNow(() => SECOND) - since) / SECOND) * SECOND)}</span>
);

const SOON_MS = 3_600_000;

/** The time until a deadline. */
export function Countdown({ until }: { until: number }) {
  const now = useNow((time) => (until > time ? (until - time) % SECOND || SECOND : 2 ** 31 - 1));
  const left = until - now;
  const state = left <= 0 ? 'over' : left < SOON_MS ? 'soon' : '';
  const text = duration(Math.ceil(left / SECOND) * SECOND);
  return (
    <span className={`countdown ${state}`}>
      <Hourglass size={14} aria-hidden />
      <time dateTime={new Date(until).toISOString()}>
        {left <= 0 ? words.countdown.over : words.countdown.left(text)}
      </time>
    </span>
  );
}
