import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { bwrapIsolation } from './bwrap.ts';
import { type Isolation, isRoot, LAUNCH_ENVIRONMENT, type Launcher, RUNNER_FOLDER } from './launch.ts';
import { permissionOnlyIsolation } from './permission-only.ts';
import { findPython } from './python.ts';
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

/** Starts a real child without a pack, whose input ends at once; what it complains about, if anything. */
async function complaintOf(isolation: Launcher): Promise<string | undefined> {
  const { file, args } = isolation.command({ folder: RUNNER_FOLDER, flags: ['--check'] });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: LAUNCH_ENVIRONMENT,
    timeout: PROBE_MS,
  });
  const [, , complaints, input] = child.stdio;
  if (input instanceof Socket) input.on('error', () => {}).end();
  let said = '';
  complaints?.on('data', (chunk: Buffer) => {
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

/** Where the sandbox may be told to stand; `os` is the better of the two that works. */
export type IsolationChoice = 'os' | Isolation['kind'];

/** Root mounts before it becomes nobody, so with `unshare` packs may lie in folders that only root can enter. */
function candidates(wanted: IsolationChoice): readonly ((workDir: string) => Isolation)[] {
  if (wanted === 'bwrap') return [bwrapIsolation];
  if (wanted === 'unshare') return [unshareIsolation];
  return isRoot() ? [unshareIsolation, bwrapIsolation] : [bwrapIsolation, unshareIsolation];
}

export async function chooseIsolation(wanted: IsolationChoice, workDir: string): Promise<Isolation> {
  if (wanted === 'permission-only') return permissionOnlyIsolation();
  const complaints: string[] = [];
  if (process.platform !== 'linux') throw new SandboxUnavailable([`${process.platform} has neither`]);
  for (const candidate of candidates(wanted)) {
    const isolation = candidate(workDir);
    const complaint = await complaintOf(isolation);
    if (complaint === undefined) return isolation;
    complaints.push(complaint);
  }
  throw new SandboxUnavailable(complaints);
}

export type PythonFound =
  | { readonly kind: 'found'; readonly version: string; readonly launcher: Launcher }
  | { readonly kind: 'missing'; readonly reason: string };

/** A Python that was seen to start behind this wall. */
export async function choosePython(isolation: Isolation): Promise<PythonFound> {
  const python = await findPython();
  if (!python) return { kind: 'missing', reason: 'no python3 of version 3.10 or later was found' };
  const launcher = isolation.forPython(python);
  if (!launcher) return { kind: 'missing', reason: 'Python packs need an OS sandbox' };
  const complaint = await complaintOf(launcher);
  if (complaint !== undefined) return { kind: 'missing', reason: complaint };
  return { kind: 'found', version: python.version, launcher };
}
