import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerFrom } from './answer.ts';
import { converse, isAnswerable } from './dialogue.ts';
import { approversOf, howToAnswer, type Interrupt, renderInterrupt } from './interrupt.ts';
import { plain } from './style.ts';
import { readDuration, shellWord } from './values.ts';

const interrupt = (kind: string, data: Interrupt['data'], more: Partial<Interrupt> = {}): Interrupt => ({
  runId: 'r',
  nodeId: 'n',
  interruptId: 'i',
  kind,
  data,
  ...more,
});
const shown = (asked: Interrupt) => renderInterrupt(asked, 0, plain).join('\n');

test('each kind says what is asked and what to type', () => {
  const cases: [Interrupt, RegExp, RegExp][] = [
    [
      interrupt('external-event', { eventType: 'paid', correlation: { a: 1 } }),
      /event paid.*\n.*"a":1/,
      /NAME=VALUE/,
    ],
    [interrupt('conversation.exchange', { prompt: 'And now?' }), /^And now\?/, /content=TEXT.*outcome=JSON/s],
    [
      interrupt('low-confidence', { agentId: 'bot', observed: 0.4, threshold: 0.7, decision: 'go' }),
      /^bot is not confident enough: 0\.4 of 0\.7\n.*decided go/,
      /approve.*reject/s,
    ],
    [interrupt('custom', { customKind: 'colour', payload: ['red'] }), /^colour\n.*\["red"\]/, /--json JSON/],
    [interrupt('vendor.thing', { x: 1 }), /^vendor\.thing\n.*"x":1/, /NAME=VALUE/],
    [interrupt('clarification', { questions: [{ id: 'a b', question: 'Q?' }] }), /a b: Q\?/, /'a b'=TEXT/],
  ];
  for (const [asked, text, typed] of cases) {
    assert.match(shown(asked), text);
    assert.match(howToAnswer(asked).join('\n'), typed);
  }
});

test('approvers are named with what they are; control characters of a question are taken out', () => {
  const data = { approversList: ['ada'], approverRoleRefs: ['cfo'], audience: { groups: ['board'] } };
  assert.equal(approversOf(data), 'ada, role cfo, group board');
  const nasty = interrupt('approval', { title: 'no\u001b[2J\u0007ise', actions: ['accept'] });
  assert.match(shown(nasty), /^noise|^no ise/);
  const late = interrupt('custom', { customKind: 'x' }, { deadline: new Date(61_000).toISOString() });
  assert.match(shown(late), /Rejected automatically in 1m 1s/);
});

test('a turn of a conversation, its end, and neither', () => {
  const chat = interrupt('conversation.exchange', { prompt: 'p' });
  assert.deepEqual(answerFrom(chat, ['content=hi']), { operation: 'exchange', turn: { content: 'hi' } });
  assert.deepEqual(answerFrom(chat, ['outcome={"ok":true}']), { operation: 'close', outcome: { ok: true } });
  assert.throws(() => answerFrom(chat, ['x=1']), /content=TEXT/);
});

test('at a terminal: letters choose among what is offered, and empty lines decide nothing', async () => {
  const says =
    (...lines: (string | undefined)[]) =>
    async () =>
      lines.shift();
  const gate = interrupt('approval', { actions: ['accept', 'refine', 'ask'] });
  assert.deepEqual(await converse(gate, says('r', '', 'A')), { action: 'accept' });
  assert.deepEqual(await converse(gate, says('c', '', 'c', 'shorter')), {
    action: 'refine',
    refineFeedback: { scope: 'whole', text: 'shorter' },
  });
  assert.deepEqual(await converse(gate, says('q', 'why?')), { action: 'ask', question: 'why?' });
  assert.equal(await converse(gate, says(undefined)), undefined);
  const form = interrupt('clarification', { questions: [{ id: 'n', question: 'How many?' }] });
  assert.deepEqual(await converse(form, says('3')), { answers: { n: 3 } });
  assert.equal(await converse(form, says('')), undefined);
  assert.ok(!isAnswerable(interrupt('external-event', { correlation: {} })));
  assert.ok(!isAnswerable(interrupt('approval', { actions: ['edit-accept'] })));
});

test('words for a shell, and spans of time', () => {
  assert.deepEqual(["it's", 'a-b', ''].map(shellWord), ["'it'\\''s'", 'a-b', "''"]);
  assert.deepEqual(
    ['30s', '15m', '2h', '3d'].map((text) => readDuration(text, '--in')),
    [30_000, 900_000, 7_200_000, 259_200_000],
  );
  assert.throws(() => readDuration('1w', '--in'), /30s, 15m, 2h or 3d/);
});
