import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MirrorSummary } from './mirror.ts';
import { isWhole, progressOn, summaryText } from './report.ts';

const SUMMARY: MirrorSummary = {
  packs: 1,
  total: 120,
  done: 120,
  copied: 100,
  there: 18,
  updated: 0,
  bytes: 1_234_567,
  keys: 1,
  assignments: 0,
  keychains: 2,
  advisories: 1,
  notTried: 0,
  leftOut: [],
  refused: [],
};

function written(isTTY: boolean): string[] {
  const texts: string[] = [];
  const progress = progressOn({ isTTY, write: (text) => texts.push(text) });
  for (let done = 1; done <= 120; done++) progress({ ...SUMMARY, done });
  return texts;
}

test('without a terminal there are some plain lines, and the last one', () => {
  const lines = written(false);
  assert.deepEqual(
    lines.map((line) => line.split(' ')[0]),
    ['50', '100', '120'],
  );
  assert.equal(lines[2], '120 of 120 versions: 100 copied (1.2 MB), 18 there already, 0 updated\n');
});

test('on a terminal one line changes', () => {
  const texts = written(true);
  assert.equal(texts.length, 120);
  assert.ok(texts.every((text) => text.startsWith('\r\u001b[K') && !text.endsWith('\n')));
});

test('every refusal is told, and nothing in it steers the terminal', () => {
  const refused = [{ what: 'vendor.acme.a@1.0.0', code: 'conflict', reason: 'no\u001b[2J\nno' }];
  const text = summaryText({ ...SUMMARY, refused, notTried: 3 }, false);
  assert.match(text, /^1 key, 2 keychains, 0 namespace assignments, 1 advisory\.$/m);
  assert.match(text, /^ {2}vendor\.acme\.a@1\.0\.0: conflict: no\uFFFD\[2J\uFFFDno$/m);
  assert.match(text, /^3 not tried\. Run the same command again to go on\.$/m);
  assert.equal(isWhole(SUMMARY), true);
  assert.equal(isWhole({ ...SUMMARY, refused }), false);
  assert.equal(isWhole({ ...SUMMARY, notTried: 1 }), false);
});
