import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readAiConfig } from './config.ts';

const file = join(tmpdir(), `gantry-ai-${process.pid}.json`);
after(() => rmSync(file, { force: true }));

const read = (config: object) => {
  writeFileSync(file, JSON.stringify(config));
  return readAiConfig(file);
};

test('what the file misspells is refused at start, and named', () => {
  const price = { input: 1, output: 2 };
  const endpoints = [{ id: 'lab', url: 'http://127.0.0.1:1/v1' }];
  const prices = { 'lab/small': price, 'openai/gpt-6': price };
  assert.deepEqual(read({ endpoints, prices }).prices, prices);
  for (const [wrong, why] of [
    [{ endpoint: [] }, /has no member "endpoint" \(did you mean "endpoints"\?\)/],
    [{ endpoints: [{ id: 'lab', url: 'http://x', modles: [] }] }, /endpoints\/0 has no member "modles"/],
    [{ endpoints, prices: { 'lba/small': price } }, /names the provider lba,/],
    [{ endpoints, prices: { 'lab/small': { inptu: 1 } } }, /prices\/lab~1small/],
    [{ policies: [{ provider: 'opnai', mode: 'disabled' }] }, /names the provider opnai,/],
    [{ default: { provider: 'lba' } }, /names the provider lba,/],
    [{ endpoints: [{ id: 'openai', url: 'http://x', rerankModels: ['r'] }] }, /openai has rerankModels/],
  ] as const)
    assert.throws(() => read(wrong), why);
});
