import type { RunStatus } from '@gantry/protocol';
import { duration } from '../look/format.ts';
import { StatusMark } from '../look/status-mark.tsx';
import { Ago } from '../look/time.tsx';
import { words } from '../text/words.ts';
import { timeScale } from './time-scale.ts';

export interface Span {
  readonly kind: 'running' | 'waiting' | 'completed' | 'failed';
  readonly from: number;
  /** Absent while it lasts. */
  readonly to?: number;
}

export interface Lane {
  readonly id: string;
  readonly name: string;
  readonly status: RunStatus;
  readonly depth: number;
  /** Visits of a loop, which are one lane. */
  readonly times?: number;
  readonly spans: readonly Span[];
}

interface LanesProps {
  lanes: readonly Lane[];
  now: number;
  chosen?: string | undefined;
  onChoose: (id: string) => void;
}

const INDENT = 16;
const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;

/** Nodes over time, a lane for each. */
export function TimelineLanes({ lanes, now, chosen, onChoose }: LanesProps) {
  const spans = lanes.flatMap((lane) => lane.spans);
  const ended = (span: Span) => ({ from: span.from, to: span.to ?? now });
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to ?? now));
  const work = spans.filter(({ kind }) => kind !== 'waiting').map(ended);
  const scale = timeScale(work, { from, to });
  const folds = scale.pieces.filter(({ isFolded }) => isFolded);
  return (
    <section className="lanes" aria-label={words.lanes.label}>
      <div className="lanes-axis">
        <Ago at={from} />
        <div className="track">
          <span className="tick">{duration(0)}</span>
          {folds.map((fold) => (
            <span key={fold.from} className="tick" style={{ left: percent(fold.x + fold.width / 2) }}>
              <span className="hidden">{words.lanes.folded(duration(fold.to - fold.from))}</span>
              <span aria-hidden>{duration(fold.to - fold.from)}</span>
            </span>
          ))}
          <span className="tick" style={{ left: '100%' }}>
            {duration(to - from)}
          </span>
        </div>
      </div>
      {lanes.map((lane) => (
        <LaneRow
          key={lane.id}
          lane={lane}
          took={duration(tookMs(lane, now))}
          isChosen={lane.id === chosen}
          onChoose={() => onChoose(lane.id)}
          folds={folds.map((fold) => ({ left: percent(fold.x), width: percent(fold.width) }))}
          bars={lane.spans.map((span) => {
            const [left, right] = [scale.x(span.from), scale.x(span.to ?? now)];
            return { kind: span.kind, left: percent(left), width: percent(right - left) };
          })}
        />
      ))}
    </section>
  );
}

const tookMs = ({ spans }: Lane, now: number): number =>
  Math.max(...spans.map(({ to }) => to ?? now)) - Math.min(...spans.map(({ from }) => from));

interface Box {
  left: string;
  width: string;
}

interface LaneRowProps {
  lane: Lane;
  took: string;
  isChosen: boolean;
  onChoose: () => void;
  folds: readonly Box[];
  bars: readonly (Box & { kind: string })[];
}

function LaneRow({ lane, took, isChosen, onChoose, folds, bars }: LaneRowProps) {
  const { name, status, depth, times } = lane;
  return (
    <button type="button" className="lane" aria-pressed={isChosen} onClick={onChoose}>
      <span className="node" style={{ paddingLeft: depth * INDENT }}>
        <StatusMark status={status} wordless />
        <span className="cut">{name}</span>
        {times !== undefined && <span className="times">{words.lanes.times(times)}</span>}
      </span>
      <span className="track">
        {folds.map((fold) => (
          <i key={fold.left} className="fold" style={fold} />
        ))}
        {bars.map(({ kind, ...box }) => (
          <i key={box.left} className={`bar ${kind}`} style={box} />
        ))}
      </span>
      <span className="number quiet">{took}</span>
    </button>
  );
}
