/** The steps of deploy/Dockerfile without Docker: what it copies is enough to start the host and to pass its check. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('what the image holds serves, and its health check says so', async (t) => {
  const dockerfile = await readFile(path.join(ROOT, 'deploy/Dockerfile'), 'utf8');
  const ignored = (await readFile(path.join(ROOT, '.dockerignore'), 'utf8')).includes('**/node_modules');
  assert.ok(ignored, 'the modules of the build machine stay out');
  const image = await mkdtemp(path.join(tmpdir(), 'gantry-image-'));
  t.after(() => rm(image, { recursive: true, force: true, maxRetries: 5 }));
  for (const [, words = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)) {
    const names = words.split(' ').slice(0, -1);
    for (const name of names)
      await cp(path.join(ROOT, name), path.join(image, name), {
        recursive: true,
        filter: (file) => !/node_modules|\.test\.ts$/.test(file.slice(ROOT.length)),
      });
  }
  await symlink(path.join(ROOT, 'node_modules'), path.join(image, 'node_modules'));
  const env = {
    PATH: process.env.PATH,
    ...Object.fromEntries(
      [...dockerfile.matchAll(/^ENV (\w+)=(.+)$/gm)].map(([, name, value]) => [name, value]),
    ),
    GANTRY_HOST: '127.0.0.1',
    GANTRY_DATA_DIR: path.join(image, 'data'),
    GANTRY_WORKFLOWS_DIR: path.join(image, 'workflows'),
    GANTRY_PORT: '0',
    NODE_NO_WARNINGS: '1',
  };
  const [, entry = ''] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? [];
  const [, check = ''] = /^HEALTHCHECK .*CMD (.+)$/m.exec(dockerfile) ?? [];
  const run = (words: string, more: object = {}) => {
    const [command = '', ...args] = JSON.parse(words) as string[];
    return spawn(path.join(image, command), args, { cwd: image, env: { ...env, ...more }, stdio: 'pipe' });
  };
  const host = run(entry);
  t.after(() => host.kill('SIGKILL'));
  const [said] = await once(host.stdout, 'data');
  const port = /serving on http:\/\/127\.0\.0\.1:(\d+)/.exec(String(said))?.[1];
  assert.ok(port, String(said));
  const [healthy] = await once(run(check, { GANTRY_PORT: port }), 'exit');
  assert.equal(healthy, 0);
  host.kill('SIGTERM');
  assert.deepEqual(await once(host, 'exit'), [0, null]);
  const [gone] = await once(run(check, { GANTRY_PORT: port }), 'exit');
  assert.equal(gone, 1);
});

test('compose and the unit name files and settings that exist', async () => {
  const [compose, unit] = await Promise.all(
    ['compose.yaml', 'gantry.service'].map((name) => readFile(path.join(ROOT, 'deploy', name), 'utf8')),
  );
  const settings = await readFile(path.join(ROOT, 'packages/host/src/settings.ts'), 'utf8');
  const named = new Set(`${compose}${unit}`.match(/GANTRY_[A-Z_]+/g));
  for (const name of named) assert.ok(settings.includes(name), name);
  assert.match(String(unit), /ExecStart=\S+ packages\/host\/bin\/start\.mjs/);
});
