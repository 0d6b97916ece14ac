import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { bwrapIsolation } from './bwrap.ts';
import { type Isolation, isRoot, LAUNCH_ENVIRONMENT } from './launch.ts';
import { permissionOnlyIsolation } from './permission-only.ts';
import { unshareIsolation } from './unshare.ts';

const PROBE_MS = 10_000;
const COMPLAINT_MAX = 500;

/** No way to isolate pack code on this machine; the message says what the operator can do. */
export class SandboxUnavailable extends Error {
  constructor(complaints: readonly string[]) {
    super(
      `Packs cannot be isolated on this machine (${complaints.join('; ')}). Install bubblewrap (bwrap), ` +
        'or allow unprivileged user namespaces so that unshare works, or, for packs that you trust, ' +
        'set GANTRY_SANDBOX=permission-only.',
    );
    this.name = 'SandboxUnavailable';
  }
}

/** Starts a real child that only reports readiness to run Node; what it complains about, if anything. */
async function complaintOf(isolation: Isolation, folder: string): Promise<string | undefined> {
  const { file, args } = isolation.command({ folder, flags: ['--check'] });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: LAUNCH_ENVIRONMENT,
    timeout: PROBE_MS,
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    if (said.length < COMPLAINT_MAX) said += chunk.toString('utf8');
  });
  child.once('error', (error) => resolve(`${isolation.kind}: ${error.message}`));
  child.once('close', (code) =>
    resolve(
      code === 0 ? undefined : `${isolation.kind}: ${said.trim().slice(0, COMPLAINT_MAX) || `exit ${code}`}`,
    ),
  );
  return promise;
}

/** Root mounts before it becomes nobody, so with `unshare` packs may lie in folders that only root can enter. */
const candidates = (): readonly ((workDir: string) => Isolation)[] =>
  isRoot() ? [unshareIsolation, bwrapIsolation] : [bwrapIsolation, unshareIsolation];

export async function chooseIsolation(wanted: 'os' | 'permission-only', workDir: string): Promise<Isolation> {
  if (wanted === 'permission-only') return permissionOnlyIsolation();
  const probe = path.join(workDir, 'probe');
  mkdirSync(probe, { recursive: true });
  chmodSync(probe, 0o755);
  const complaints: string[] = [];
  if (process.platform !== 'linux') throw new SandboxUnavailable([`${process.platform} has neither`]);
  for (const candidate of candidates()) {
    const isolation = candidate(workDir);
    const complaint = await complaintOf(isolation, probe);
    if (complaint === undefined) return isolation;
    complaints.push(complaint);
  }
  throw new SandboxUnavailable(complaints);
}
