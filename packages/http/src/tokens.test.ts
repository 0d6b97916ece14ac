import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOKENS } from './tokens.ts';

type Rgb = readonly [number, number, number];

const rgbOf = (hex: string): Rgb => {
  const at = (from: number): number => Number.parseInt(hex.slice(from, from + 2), 16);
  return [at(1), at(3), at(5)];
};

/** WCAG 2.2 */
function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(front: string, back: string): number {
  const [a, b] = [luminance(rgbOf(front)), luminance(rgbOf(back))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

const pairs = [...TOKENS.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)];
const colours = new Map(pairs.map(([, name, light, dark]) => [name!, [light!, dark!] as const]));

const BACKS = ['page', 'panel', 'sunken', 'hover', 'selected'];
const TEXTS = ['text', 'quiet', 'link', 'good', 'warn', 'bad', 'run', 'wait', 'idle'];
const STATES = ['good', 'warn', 'bad', 'run', 'wait', 'idle'];

function tooClose(front: string, backs: readonly string[], least: number): string[] {
  return backs.flatMap((back) =>
    [0, 1].flatMap((theme) => {
      const ratio = contrast(colours.get(front)![theme]!, colours.get(back)![theme]!);
      return ratio >= least ? [] : [`${front} on ${back} by ${['day', 'night'][theme]}: ${ratio.toFixed(2)}`];
    }),
  );
}

test('text can be read on every surface, by day and by night', () => {
  assert.ok(colours.size > 20);
  const found = [
    ...TEXTS.flatMap((front) => tooClose(front, BACKS, 4.5)),
    ...STATES.flatMap((state) =>
      ['text', 'quiet', state].flatMap((front) => tooClose(front, [`${state}-back`], 4.5)),
    ),
    ...tooClose('on-accent', ['accent', 'accent-hover'], 4.5),
  ];
  assert.deepEqual(found, []);
});

test('the edges of controls and the ring of the focus can be seen', () => {
  assert.deepEqual(
    ['edge', 'focus', 'accent'].flatMap((front) => tooClose(front, ['page', 'panel'], 3)),
    [],
  );
});
