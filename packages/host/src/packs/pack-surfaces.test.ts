import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surfacesOf } from './pack-surfaces.ts';

const OFFERED = ['kvStorage', 'sql'];
const GRANTED = ['host.sql', 'net.outbound'];
const code = (language: 'javascript' | 'python' | 'wasm') => ({ language, entry: 'a' });
const node = (effect: 'pure' | 'effect') => ({ typeId: 'a', effect, sensitiveOutputs: [] });

test('what is named, as far as the host has it, and what is granted', () => {
  const nodes = [node('pure'), node('effect')];
  const named = surfacesOf(
    { code: code('python'), nodes, peers: ['host.storage.kv', 'cache'] },
    OFFERED,
    GRANTED,
  );
  assert.deepEqual(named, { access: 'write', capabilities: ['kvStorage', 'sql'], declared: true });
  const granted = { access: 'write', capabilities: ['sql'], declared: false };
  assert.deepEqual(
    surfacesOf({ code: code('javascript'), nodes, peers: ['cache'] }, OFFERED, GRANTED),
    granted,
  );
  // A record of before
  assert.deepEqual(surfacesOf({ code: code('javascript'), nodes }, OFFERED, GRANTED), granted);
});

test('code that has no ctx calls nothing', () => {
  const nodes = [node('effect')];
  assert.equal(surfacesOf({ code: code('wasm'), nodes }, OFFERED, GRANTED), undefined);
  assert.equal(surfacesOf({ code: { language: 'remote', entry: 'a' }, nodes }, OFFERED, GRANTED), undefined);
  assert.equal(surfacesOf({ nodes: [] }, OFFERED, GRANTED), undefined);
});
