import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { WorkflowDefinition } from '@gantry/protocol';
import { publicFixtures, skipWithoutPublicData } from '../../../protocol/src/testing/public-schemas.ts';
import { compile, DefinitionError, snapshot } from '../index.ts';
import { issuesOf } from '../testing/channels.ts';
import { node, Trial, workflow } from '../testing/workflow.ts';

const fixture = (id: string) => publicFixtures().get(`${id}.json`) as WorkflowDefinition;

describe('public fixtures', { skip: skipWithoutPublicData }, () => {
  test('channel-ttl keeps the last entry, among the variables too', () => {
    const trial = Trial.begin(fixture('conformance-channel-ttl')).wake(1_300);
    const { status, variables, channels } = snapshot(trial.plan, trial.run);
    const expected = { events: [{ value: 'd', _ts: 1_300 }] };
    assert.deepEqual([status, variables, channels], ['completed', expected, expected]);
  });

  test('message-reducer keeps each message once', () => {
    const trial = Trial.begin(fixture('conformance-message-reducer'));
    assert.equal(trial.run.status, 'completed');
    assert.equal(trial.events.filter(({ type }) => type === 'channel.written').length, 3);
    const { channels } = snapshot(trial.plan, trial.run);
    const messages = channels?.messages as { messageId: string }[];
    assert.equal(messages.length, 2);
    assert.equal(new Set(messages.map(({ messageId }) => messageId)).size, 2);
  });
});

describe('the hook for duplicate messages', () => {
  const emit = node('emit', 'core.identity', { config: { emitDuplicateMessageId: true } });
  const channels = { messages: { reducer: 'message' } };

  test('is for conformance workflows', () => {
    const refused = workflow([emit], [], { channels });
    assert.throws(
      () => compile(refused),
      (error) => error instanceof DefinitionError && error.issues[0]?.code === 'capability_required',
    );
    assert.equal(Trial.begin({ ...refused, id: 'conformance-x' }).run.status, 'completed');
  });

  test('needs a channel of messages, and may be denied it', () => {
    const id = 'conformance-x';
    assert.deepEqual(issuesOf(workflow([emit], [], { id })), ['/nodes/0/config/emitDuplicateMessageId']);
    const locked = { messages: { reducer: 'message', access: 'private' as const } };
    assert.equal(
      Trial.begin(workflow([emit], [], { id, channels: locked })).run.error?.code,
      'channel_access_denied',
    );
  });
});
