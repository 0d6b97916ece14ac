import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@gantry/protocol';
import { explain } from '../index.ts';
import { answer } from '../testing/answers.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const open = (typeId: string, config: JsonObject) => Trial.begin(workflow([node('a b', typeId, { config })]));
const told = (trial: Trial) => explain(trial.plan, trial.run, trial.now);

describe('an open question explains itself', () => {
  const cases: [string, string, JsonObject, RegExp][] = [
    [
      'approval',
      'core.approvalGate',
      { title: 'Ship?' },
      /waits for approval "Ship\?"\. Answering requires the scope/,
    ],
    [
      'named',
      'core.approvalGate',
      { approversList: ['ann'], approverRoleRefs: ['lead'] },
      /Only ann, the role lead may answer/,
    ],
    [
      'credential',
      'core.approvalGate',
      { profile: 'openwop-interrupt-auth-required' },
      /a link alone is not enough/,
    ],
    [
      'gate',
      'core.openwop.governance.approvalGate',
      { requiredRole: 'admin', override: { requiredRole: 'owner' } },
      /requires the role admin\. The role owner may override/,
    ],
    [
      'clarification',
      'core.clarificationGate',
      { questions: [{ id: 'q', question: 'x' }] },
      /answers to 1 question\./,
    ],
    [
      'event',
      'core.interrupt',
      { kind: 'external-event', data: { eventType: 'paid', correlation: {} }, timeoutMs: 60_000 },
      /an event from outside "paid"\..*It fails in 60 s/,
    ],
    ['custom', 'core.interrupt', { kind: 'custom', data: { customKind: 'sign' } }, /an answer "sign"/],
    [
      'doubt',
      'core.interrupt',
      { kind: 'low-confidence', data: { agentId: 'bot', threshold: 0.7, observed: 0.5 } },
      /bot is 0\.5 sure, and 0\.7 is needed/,
    ],
    [
      'talk',
      'core.conversationGate',
      { prompt: 'Hm?', timeoutMs: 500 },
      /in a conversation "Hm\?", 0 turns so far\..*It is closed in 500 ms/,
    ],
  ];
  for (const [name, typeId, config, text] of cases)
    test(name, () => {
      const { waitingFor, summary, status, actions } = told(open(typeId, config));
      assert.equal(waitingFor.length, 1);
      assert.equal(waitingFor[0]?.kind, 'interrupt');
      assert.match(waitingFor[0]?.text ?? '', text);
      assert.ok(summary.includes(waitingFor[0]?.text ?? '?'));
      assert.match(status, /^waiting-/);
      assert.equal(actions[0]?.action, 'resolve');
      assert.equal(actions[0]?.path, '/v1/runs/run-1/interrupts/a%20b');
    });

  test('how many votes are in, and when it is rejected', () => {
    const trial = open('core.approvalGate', {
      requiredApprovals: 3,
      rejectionPolicy: 'majority',
      timeoutMs: 7_200_000,
    });
    answer(trial, 'a b', 'approved');
    const [wait] = told(trial).waitingFor;
    assert.match(wait?.text ?? '', /1 of 3 approvals are in, 0 rejections; a majority of rejections ends it/);
    assert.match(wait?.text ?? '', /It is rejected in 2 hours/);
    assert.equal(wait?.wakesAt, 7_201_000);
  });
});
