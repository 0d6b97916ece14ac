import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** Every file that a program loads, as it is resolved. */
function loaded(program: string): string[] {
  const source = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({ resolve(name, context, next) { const found = next(name, context); seen.push(found.url); return found; } });
    ${program}
    console.log(JSON.stringify(seen));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return JSON.parse(stdout || assert.fail(stderr));
}

const libraries = (files: readonly string[]) => files.filter((file) => file.includes('/@ai-sdk/'));

test('no library of a family is loaded before it is used, and then no other', () => {
  assert.deepEqual(libraries(loaded(`await import('@gantry/ai');`)), []);
  const one = libraries(loaded(`await (await import('@gantry/ai')).loadFamily('anthropic');`));
  assert.ok(one.length > 0);
  assert.deepEqual(
    one.filter((file) => /@ai-sdk\/(openai|google)/.test(file)),
    [],
  );
});
