import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startCli } from './testing/test-host.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('paths are meant from where `npm run gantry` was called, and for what other scripts start from where it is', async (t) => {
  const here = await realpath(await mkdtemp(path.join(tmpdir(), 'gantry-cwd-')));
  t.after(() => rm(here, { recursive: true }));
  const words = ['--prefix', ROOT, 'run', '--silent', 'gantry', '--', 'run', './absent.json'];
  const npm = spawn('npm', words, { cwd: here, stdio: ['ignore', 'ignore', 'pipe'] });
  assert.ok((await text(npm.stderr)).includes(`Cannot read ${path.join(here, 'absent.json')} `));

  const env = { INIT_CWD: ROOT, npm_lifecycle_event: 'test', npm_package_name: 'gantry' };
  const { stderr } = await startCli(['run', './absent.json'], { cwd: here, env }).finished;
  assert.ok(stderr.includes(`Cannot read ${path.join(here, 'absent.json')} `), stderr);
});
