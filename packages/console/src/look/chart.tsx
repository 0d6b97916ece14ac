import { useId } from 'react';
import { words } from '../text/words.ts';
import { useLook } from './clock.ts';
import { moment } from './format.ts';
import { Ago } from './time.tsx';

export interface Point {
  readonly at: number;
  readonly value: number;
}

const WIDTH = 240;
const HEIGHT = 72;
const TOP = 4;

const place = (points: readonly Point[], max: number) => {
  const step = WIDTH / Math.max(1, points.length - 1);
  return points.map(({ value }, at) => {
    const y = HEIGHT - (value / max) * (HEIGHT - TOP);
    return `${(at * step).toFixed(1)},${y.toFixed(1)}`;
  });
};

interface ChartProps {
  title: string;
  points: readonly Point[];
  format: (value: number) => string;
}

/** One series over time, with its numbers in a table behind it. */
export function Chart({ title, points, format }: ChartProps) {
  const id = useId();
  const { zone } = useLook();
  const highest = Math.max(...points.map(({ value }) => value), 0);
  const line = place(points, highest || 1);
  return (
    <figure className="chart" aria-labelledby={id}>
      <figcaption id={id}>
        {title}
        <strong>{format(points.at(-1)?.value ?? 0)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        <path className="base" d={`M0,${HEIGHT}H${WIDTH}M0,${TOP}H${WIDTH}`} />
        {line.length > 1 && (
          <path className="area" d={`M0,${HEIGHT}L${line.join('L')}L${WIDTH},${HEIGHT}Z`} />
        )}
        {line.length > 1 && <path className="line" d={`M${line.join('L')}`} />}
      </svg>
      <div className="range quiet small">
        <span>{points[0] && <Ago at={points[0].at} />}</span>
        <span className="number">{words.chart.most(format(highest))}</span>
        <span>{words.chart.now}</span>
      </div>
      <details>
        <summary>{words.chart.table}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.chart.time}</th>
              <th scope="col">{words.chart.value}</th>
            </tr>
          </thead>
          <tbody>
            {points.map(({ at, value }) => (
              <tr key={at}>
                <td>{moment(at, zone)}</td>
                <td className="number">{format(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
