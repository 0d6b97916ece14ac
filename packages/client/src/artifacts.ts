import type {
  Artifact,
  ArtifactFormat,
  ArtifactList,
  RegisteredArtifact,
  WorkingCopy,
} from '@gantry/protocol';
import { type CallOptions, type CreateOptions, createCalls } from './calls.ts';
import { randomKey, type Transport } from './transport.ts';

export interface ArtifactOptions extends CallOptions {
  /** Default: the last one. */
  version?: string;
}

/** Output of runs for people. */
export interface Artifacts {
  /** Every version, and artifacts that are not stored yet. */
  list(runId: string, options?: CallOptions): Promise<ArtifactList>;
  get(runId: string, artifactId: string, options?: ArtifactOptions): Promise<Artifact>;
  /** Only the content, as a document; `raw` for content that is not JSON. */
  export(
    runId: string,
    artifactId: string,
    format: ArtifactFormat | 'raw',
    options?: ArtifactOptions,
  ): Promise<Uint8Array>;
  workingCopy(runId: string, artifactId: string, options?: CallOptions): Promise<WorkingCopy>;
  /** `version` is that of the copy to be replaced. */
  writeWorkingCopy(
    runId: string,
    artifactId: string,
    written: { version: string; content: unknown },
    options?: CreateOptions,
  ): Promise<WorkingCopy>;
  /** Stores the working copy, or the output of the node, as a version. */
  register(runId: string, artifactId: string, options?: CreateOptions): Promise<RegisteredArtifact>;
}

export function createArtifacts(transport: Transport): Artifacts {
  const { read, send } = createCalls(transport);
  const below = (root: string, runId: string, artifactId: string): string =>
    `${root}/runs/${encodeURIComponent(runId)}/artifacts/${encodeURIComponent(artifactId)}`;
  const HOST = '/v1/host/gantry';
  return {
    list: (runId, options) => read(`${HOST}/runs/${encodeURIComponent(runId)}/artifacts`, {}, options),
    get: (runId, artifactId, { version, signal } = {}) =>
      read(below('/v1', runId, artifactId), { version }, signal && { signal }),
    async export(runId, artifactId, format, { version, signal } = {}) {
      const path = below('/v1', runId, artifactId);
      const response = await transport.open({ method: 'GET', path, query: { format, version }, signal });
      return new Uint8Array(await response.arrayBuffer());
    },
    workingCopy: (runId, artifactId, options) =>
      read(`${below(HOST, runId, artifactId)}/working-copy`, {}, options),
    writeWorkingCopy: (runId, artifactId, body, { idempotencyKey = randomKey(), signal } = {}) =>
      transport.request({
        method: 'PUT',
        path: `${below(HOST, runId, artifactId)}/working-copy`,
        body,
        headers: { 'idempotency-key': idempotencyKey },
        signal,
      }),
    register: (runId, artifactId, options) =>
      send(`${below(HOST, runId, artifactId)}:register`, undefined, options),
  };
}
