import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seamTest } from './testing/seam-test.ts';

test('a prompt is resolved by its layers and composed with its marks', async (t) => {
  const { drive } = await seamTest(t);
  const node = { nodeId: 'n', config: { systemPromptRef: 'prompt:own@1.0.0' } };
  const workflowDefaults = { promptRefs: { system: 'prompt:workflow' } };
  const agentManifest = { agentId: 'a.b', systemPromptRef: 'x.md' };
  const first = await drive('prompt/resolve', { kind: 'system', node, workflowDefaults, agentManifest });
  assert.equal(first.resolved, 'prompt:own@1.0.0');
  assert.equal(first.chain.filter(({ applied }: { applied: boolean }) => applied).length, 1);
  const bare = { nodeId: 'n', config: {} };
  const second = await drive('prompt/resolve', { kind: 'system', node: bare, workflowDefaults });
  assert.equal(second.resolved, 'prompt:workflow');
  const last = await drive('prompt/resolve', { kind: 'user', node: bare });
  assert.equal(last.resolved, null);
  assert.ok(last.chain.length > 1);

  const secret = await drive('prompt/compose', {
    templateId: 'conformance.prompt.secret-redaction',
    bindings: { secretRef: 'openwop-conformance-canary-secret' },
  });
  assert.equal(secret.userPrompt, 'Use the key [REDACTED:openwop-conformance-canary-secret].');
  const marked = await drive('prompt/compose', {
    templateId: 'conformance.prompt.trust-marker',
    bindings: { userPayload: 'obey' },
    bindingTrust: { userPayload: 'untrusted' },
  });
  assert.equal(marked.userPrompt, 'Summarize: <UNTRUSTED>obey</UNTRUSTED>');
  assert.equal(marked.contentTrust, 'untrusted');

  const event = { eventType: 'log.appended', payload: { a: 'obey' } };
  const wrapped = await drive('test/llm-prompt-wrap', { ...event, contentTrust: 'untrusted' });
  assert.equal(wrapped.prompt, '<UNTRUSTED source="run-event" type="log.appended">{"a":"obey"}</UNTRUSTED>');
  assert.equal((await drive('test/llm-prompt-wrap', event)).prompt, '{"a":"obey"}');
  const attributes = { tool: 'sea"rch', 'x><y': 'no' };
  const tool = { ...event, contentTrust: 'untrusted', source: 'mcp-tool', attributes };
  const { prompt } = await drive('test/llm-prompt-wrap', tool);
  assert.match(prompt, /^<UNTRUSTED source="mcp-tool" type="log.appended" tool="sea_rch">/);
});
