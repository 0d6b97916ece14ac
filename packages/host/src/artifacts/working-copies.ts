/** Edited artifacts. Stored versions are immutable: a working copy becomes a version when it is registered. */
import { type EditedArtifact, misfitRefusal, type PlanNode, shownContent } from '@gantry/engine';
import { type Json, OpenwopError, type WorkingCopy, type WriteWorkingCopy } from '@gantry/protocol';
import { type Caller, type Changes, type RecordKind, readRecord, type Stored } from '@gantry/resources';
import type { RunKey, Store } from '@gantry/store';
import type { ReadRun, Runtime } from '../runtime/runtime.ts';
import { type Artifacts, missing } from './artifacts.ts';

interface CopyRecord {
  readonly runId: string;
  readonly content: Json;
  /** The last version at the time of the edit; 0 before the first. */
  readonly base: number;
  readonly writtenBy: string;
}

export const COPIES: RecordKind<CopyRecord> = {
  kind: 'artifact-copy',
  idPrefix: 'artc',
  endsWithRun: ({ runId }) => runId,
};

const copyId = (runId: string, artifactId: string): string => `${runId}/${artifactId}`;

export interface WorkingCopiesOptions {
  readonly entries: Pick<Store['entries'], 'get'>;
  readonly runtime: Pick<Runtime, 'read'>;
  readonly artifacts: Artifacts;
  readonly changes: Changes;
}

/** A node whose artifact can be edited, in its run. */
interface Subject extends ReadRun {
  readonly key: RunKey;
  readonly node: PlanNode;
  readonly artifactId: string;
}

export class WorkingCopies {
  readonly #options: WorkingCopiesOptions;

  constructor(options: WorkingCopiesOptions) {
    this.#options = options;
  }

  /** Without a working copy: the last version, or the output of the node. Null if the run does not exist. */
  async read(key: RunKey, artifactId: string): Promise<WorkingCopy | null> {
    const subject = await this.#subject(key, artifactId);
    if (!subject) return null;
    const stored = await this.#stored(key, artifactId);
    return view(subject, stored, stored ? stored.record.content : await this.#original(subject));
  }

  /** Null if the run does not exist. */
  async write(
    caller: Caller,
    key: RunKey,
    artifactId: string,
    { version, content }: WriteWorkingCopy,
  ): Promise<WorkingCopy | null> {
    const subject = await this.#subject(key, artifactId);
    if (!subject) return null;
    const json = content as Json;
    const misfit = subject.node.artifact?.registered?.check(json);
    if (misfit) {
      const { message, details } = misfitRefusal(subject.node, `/content${misfit.path}`, misfit.message);
      throw new OpenwopError('validation_error', { message, ...(details && { details }) });
    }
    // Throws if it does not exist
    await this.#original(subject);
    return this.#options.changes.run(caller, async (change) => {
      const id = copyId(key.runId, artifactId);
      const found = await change.find(COPIES, id);
      const current = tokenOf(subject, found);
      if (version !== current) throw conflict(current);
      const record = { runId: key.runId, content: json, base: lastOf(subject), writtenBy: caller.actor };
      return view(subject, await change.put(COPIES, record, id), json);
    });
  }

  /** The node to register, and its working copy if there is one. Null if the run does not exist. */
  async toRegister(
    key: RunKey,
    artifactId: string,
  ): Promise<{ readonly nodeId: string; readonly edited?: EditedArtifact } | null> {
    const subject = await this.#subject(key, artifactId);
    if (!subject) return null;
    const stored = await this.#stored(key, artifactId);
    const { content, base } = stored?.record ?? {};
    const edited = content !== undefined && base !== undefined && { edited: { content, base } };
    return { nodeId: subject.node.id, ...edited };
  }

  async #subject(key: RunKey, artifactId: string): Promise<Subject | null> {
    const read = await this.#options.runtime.read(key);
    if (!read) return null;
    const node = read.plan.order.find(({ artifact }) => artifact?.id === artifactId);
    if (!node) throw missing(artifactId);
    return { ...read, key, node, artifactId };
  }

  #stored({ tenant, runId }: RunKey, artifactId: string): Promise<Stored<CopyRecord> | null> {
    return readRecord(this.#options.entries, COPIES, tenant, copyId(runId, artifactId));
  }

  async #original(subject: Subject): Promise<Json> {
    const { key, artifactId, plan, run, node } = subject;
    const last = lastOf(subject);
    const version = last > 0 ? await this.#options.artifacts.find(key, artifactId, String(last)) : null;
    const content = version ? version.content : shownContent(plan, run, node);
    if (content === undefined) throw missing(artifactId);
    return content as Json;
  }
}

const lastOf = ({ run, artifactId }: Subject): number => run.artifacts.get(artifactId)?.version ?? 0;

const tokenOf = (subject: Subject, stored: Stored<CopyRecord> | null): string =>
  stored ? `c${stored.version}` : `v${lastOf(subject)}`;

function view(subject: Subject, stored: Stored<CopyRecord> | null, content: Json): WorkingCopy {
  const { key, artifactId, node } = subject;
  const base = stored?.record.base ?? lastOf(subject);
  return {
    runId: key.runId,
    artifactId,
    artifactType: node.artifact?.typeId ?? '',
    version: tokenOf(subject, stored),
    ...(base > 0 && { base: String(base) }),
    content,
  };
}

const conflict = (currentVersion: string): OpenwopError =>
  new OpenwopError('artifact_conflict', { details: { currentVersion } });
