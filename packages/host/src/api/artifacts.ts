/** Artifacts of runs over HTTP. */
import { type Api, callerOf, type Idempotency, notModified, readPayload } from '@gantry/http';
import {
  ARTIFACT_FORMATS,
  Artifact,
  ArtifactList,
  closedObject,
  invalid,
  type Json,
  OpenwopError,
  optional,
  RegisteredArtifact,
  WorkingCopy,
  WriteWorkingCopy,
} from '@gantry/protocol';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { exportArtifact, MEDIA_TYPES } from '../artifacts/export-artifact.ts';
import { PAGE_HEADERS } from '../page.ts';
import { type CommandTerms, commanded } from './command-record.ts';
import type { ApiDeps } from './context.ts';
import { refusalError } from './interrupts.ts';
import { missingRun } from './missing-run.ts';
import { changed } from './resources.ts';
import { HOST_RUN_URL, RUN_URL, RunParams } from './runs.ts';

const ARTIFACT = 'artifacts/:artifactId(^[^:/]+)';
const Params = Type.Object({
  ...RunParams.properties,
  artifactId: Type.String({ minLength: 1, maxLength: 256 }),
});

const READ_FORMATS = [...ARTIFACT_FORMATS, 'raw'] as const;

const LIST = {
  summary: 'List the artifacts of a run, every version, and those that wait to be stored',
  params: RunParams,
  response: { 200: ArtifactList },
};
const READ = {
  summary: 'Read an artifact of a run: its last version or the one that is named',
  params: Params,
  querystring: closedObject({
    version: optional(Type.String({ pattern: '^[1-9][0-9]{0,7}$' })),
    /** Returns only the content, as a document; `raw` returns the bytes of content that is not JSON. */
    format: optional(Type.Enum([...READ_FORMATS])),
  }),
  response: { 200: Artifact },
};
const COPY = {
  summary: 'Read the working copy of an artifact',
  params: Params,
  response: { 200: WorkingCopy },
};
const WRITE = {
  summary: 'Write the working copy of an artifact',
  params: Params,
  body: WriteWorkingCopy,
  response: { 200: WorkingCopy },
};
const REGISTER = {
  summary: 'Store an artifact as a version: its working copy, or what the node made',
  params: Params,
  response: { 200: RegisteredArtifact },
};

export function artifactRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { artifacts } = deps.services;
  app.get(`${HOST_RUN_URL}/artifacts`, { schema: LIST }, async (request, reply) => {
    const { runId } = request.params;
    const list = await artifacts.list({ tenant: callerOf(request).tenant, runId });
    if (!list) throw missingRun(deps, runId);
    return readPayload(request, reply, JSON.stringify(list));
  });

  app.get(`${RUN_URL}/${ARTIFACT}`, { schema: READ }, async (request, reply) => {
    const { runId, artifactId } = request.params;
    const { version, format } = request.query;
    const found = await artifacts.find({ tenant: callerOf(request).tenant, runId }, artifactId, version);
    if (!found) throw missingRun(deps, runId);
    // A version is immutable
    if (notModified(request, reply, `"${artifactId}@${found.version}${format ? `.${format}` : ''}"`))
      return '';
    if (format === undefined) return readPayload(request, reply, JSON.stringify(found));
    return exported(reply, found, format);
  });
  editingRoutes(app, deps, idempotency);
}

function exported(
  reply: FastifyReply,
  artifact: Artifact,
  format: (typeof READ_FORMATS)[number],
): string | Buffer {
  const { content, base64, mediaType, artifactId, artifactType, summary } = artifact;
  // A browser must never render these bytes on this origin
  if (format === 'raw' && base64 !== undefined) {
    void reply.headers({ ...PAGE_HEADERS, 'content-type': mediaType, 'content-disposition': 'attachment' });
    return Buffer.from(base64, 'base64');
  }
  if (format === 'raw' || base64 !== undefined) throw unmakable(format, base64 === undefined);
  void reply.headers({ ...PAGE_HEADERS, 'content-type': MEDIA_TYPES[format] });
  return exportArtifact(format, summary ?? `${artifactId} (${artifactType})`, (content ?? null) as Json);
}

const unmakable = (format: string, isJson: boolean): OpenwopError =>
  invalid(
    `This artifact cannot be read as ${format}. Ask for ${isJson ? ARTIFACT_FORMATS.join(', ') : 'raw'}.`,
    { key: 'format' },
  );

function editingRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { workingCopies } = deps.services;
  const url = `${HOST_RUN_URL}/${ARTIFACT}`;
  app.get(`${url}/working-copy`, { schema: COPY }, async (request, reply) => {
    const { runId, artifactId } = request.params;
    const copy = await workingCopies.read({ tenant: callerOf(request).tenant, runId }, artifactId);
    if (!copy) throw missingRun(deps, runId);
    return readPayload(request, reply, JSON.stringify(copy));
  });

  app.put(`${url}/working-copy`, { schema: WRITE }, async (request, reply) => {
    const { runId, artifactId } = request.params;
    return changed(request, reply, idempotency, async (caller) => {
      const key = { tenant: caller.tenant, runId };
      const written = await workingCopies.write(caller, key, artifactId, request.body);
      if (!written) throw missingRun(deps, runId);
      return written;
    });
  });

  app.post(`${url}::register`, { schema: REGISTER }, (request, reply) => {
    const { runId, artifactId } = request.params;
    const { tenant, principal } = callerOf(request);
    const operation = `POST /v1/host/gantry/runs/${runId}/artifacts/${artifactId}:register`;
    return idempotency.answer(request, reply, operation, async (record) => {
      const about = await workingCopies.toRegister({ tenant, runId }, artifactId);
      if (!about) throw missingRun(deps, runId);
      const command = { type: 'registerArtifact', ...about, by: principal } as const;
      const terms: CommandTerms = {
        answer: { type: 'registered', artifactId },
        status: 200,
        missing: () => missingRun(deps, runId),
        refused({ refusal }) {
          throw refusal ? refusalError(refusal) : new OpenwopError('conflict');
        },
      };
      return commanded(deps, { tenant, runId }, command, terms, record);
    });
  });
}
