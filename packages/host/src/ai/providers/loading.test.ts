import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/host-process.ts';

test('a host that asks no model loads no library of a provider', async (t) => {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const program = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({ resolve(name, context, next) { const found = next(name, context); seen.push(found.url); return found; } });
    const { createHost } = await import(${JSON.stringify(new URL('../../host.ts', import.meta.url))});
    const { readSettings } = await import(${JSON.stringify(new URL('../../settings.ts', import.meta.url))});
    const env = { GANTRY_LOG: 'silent', GANTRY_PORT: '0', GANTRY_DATA_DIR: ${JSON.stringify(folder.path)}, ANTHROPIC_API_KEY: 'x'.repeat(40) };
    const host = await createHost({ settings: readSettings([], env) });
    await host.start();
    await host.stop();
    console.log(JSON.stringify(seen));`;
  const file = `${folder.path}/program.mjs`;
  await writeFile(file, program);
  const stdout = execFileSync(process.execPath, [file], { encoding: 'utf8' });
  const seen: string[] = JSON.parse(stdout);
  assert.ok(seen.some((url) => url.endsWith('/ai/src/index.ts')));
  assert.deepEqual(
    seen.filter((url) => url.includes('/@ai-sdk/')),
    [],
  );
});
