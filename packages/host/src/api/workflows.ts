import type { DefinitionWarning } from '@gantry/engine';
import {
  type Api,
  callerOf,
  HOST_ADMIN,
  type Idempotency,
  notModified,
  readPayload,
  warn,
} from '@gantry/http';
import {
  isoTime,
  OpenwopError,
  type Owner,
  optional,
  RegisteredWorkflow,
  Values,
  WorkflowCheck,
  WorkflowDefinition,
  type WorkflowIssue,
  WorkflowPacks,
  WorkflowSummary,
} from '@gantry/protocol';
import type { WorkflowRecord } from '@gantry/store';
import Type from 'typebox';
import { Check } from 'typebox/schema';
import { located, sentence } from '../workflows/refusal.ts';
import { registrantOf } from '../workflows/registrant.ts';
import { workflowSchema } from '../workflows/workflow-schema.ts';
import { SHARED } from '../workflows/workflows.ts';
import type { ApiDeps } from './context.ts';
import { unanswerableGates } from './unanswerable-gates.ts';
import { unservedModels } from './unserved-models.ts';

const WorkflowParams = Type.Object({ workflowId: Type.String({ minLength: 1, maxLength: 128 }) });
const VersionParams = Type.Object({
  ...WorkflowParams.properties,
  hash: Type.String({ minLength: 1, maxLength: 128 }),
});

const summary = (record: WorkflowRecord): WorkflowSummary => ({
  workflowId: record.workflowId,
  hash: record.hash,
  version: record.version,
  name: record.name,
  registeredAt: isoTime(record.registeredAt),
  shared: record.tenant === SHARED,
});

export function workflowRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const { store, workflows } = deps;
  const { records } = store;
  versionRoutes(app, deps);
  deleteRoute(app, deps, idempotency);
  checkRoutes(app, deps);

  app.get(
    '/v1/host/gantry/workflows',
    {
      schema: {
        summary: 'List the workflows this key may run',
        response: { 200: Type.Object({ workflows: Type.Array(WorkflowSummary) }) },
      },
    },
    async (request, reply) => {
      const listed = await records.workflows(callerOf(request).tenant);
      return readPayload(request, reply, JSON.stringify({ workflows: listed.map(summary) }));
    },
  );

  app.post(
    '/v1/host/gantry/workflows',
    {
      schema: {
        summary: 'Register a definition and make it current, unless its version is lower',
        querystring: Type.Object(
          { replace: optional(Type.Enum(['true', 'false'])) },
          { additionalProperties: false },
        ),
        // The registry validates the definition within its limits; here the body only has to be an object.
        body: Values,
        response: { 201: RegisteredWorkflow },
      },
    },
    (request, reply) =>
      idempotency.answer(request, reply, 'POST /v1/host/gantry/workflows', async () => {
        const caller = callerOf(request);
        const { tenant, principal, scopes } = caller;
        const { packs } = request.body;
        if (scopes.has('packs:install') && Check(WorkflowPacks, packs))
          await deps.services.packs.service.installPinned(tenant, packs, principal);
        const terms = { replace: request.query.replace === 'true', by: registrantOf(caller) };
        const record = await workflows.register(tenant, request.body, terms);
        const { definition } = record;
        const found = [...record.warnings, ...(await foreseenFailures(deps, caller, definition))];
        const warnings = found.map((each) => located(definition, each, 'warning'));
        warn(reply, warnings.map(inWords));
        const body = JSON.stringify({ ...summary(record), current: record.isCurrent, warnings });
        return { status: 201, body, recorded: false };
      }),
  );
}

/** Warnings for a valid definition that would fail on this host in its current state. */
const foreseenFailures = async (
  { store, services, now }: ApiDeps,
  owner: Owner,
  definition: WorkflowDefinition,
): Promise<DefinitionWarning[]> => [
  ...(await unanswerableGates(store.records, { tenant: owner.tenant, now: now() }, definition)),
  ...(await unservedModels(services.providers, owner, definition)),
];

const DELETE = {
  summary: 'Delete a workflow with all its versions, unless runs of it are active',
  params: WorkflowParams,
  response: { 200: Type.Object({ workflowId: Type.String() }) },
};

function deleteRoute(app: Api, { workflows, log }: ApiDeps, idempotency: Idempotency): void {
  app.delete('/v1/host/gantry/workflows/:workflowId(^[^:/]+)', { schema: DELETE }, (request, reply) => {
    const { workflowId } = request.params;
    const { tenant, keyId, scopes } = callerOf(request);
    return idempotency.answer(request, reply, `DELETE /v1/host/gantry/workflows/${workflowId}`, async () => {
      await workflows.remove(tenant, workflowId, scopes.has(HOST_ADMIN));
      log.info({ tenant, workflowId, keyId }, 'workflow deleted');
      return { status: 200, body: JSON.stringify({ workflowId }), recorded: false };
    });
  });
}

const inWords = (warning: WorkflowIssue): string => `${warning.path}: ${sentence(warning)}`;

function checkRoutes(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/host/gantry/workflows::check',
    {
      schema: {
        summary: 'Validate a definition without registering it',
        body: Values,
        response: { 200: WorkflowCheck },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { definition, issues, warnings } = await deps.workflows.check(caller.tenant, request.body);
      const foreseen = definition ? await foreseenFailures(deps, caller, definition) : [];
      return {
        valid: issues.length === 0,
        issues: [
          ...issues.map((issue) => located(request.body, issue)),
          ...[...warnings, ...foreseen].map((warning) => located(request.body, warning, 'warning')),
        ],
      };
    },
  );

  const schema = JSON.stringify(workflowSchema());
  app.get(
    SCHEMA_URL,
    { schema: { summary: 'The JSON Schema of definitions, for editors', response: { 200: Values } } },
    (request, reply) => readPayload(request, reply, schema),
  );
}

/** The schema by which editors complete and check workflow files. */
const SCHEMA_URL = '/v1/host/gantry/workflow-schema.json';

function versionRoutes(app: Api, { store: { records } }: ApiDeps): void {
  app.get(
    '/v1/workflows/:workflowId',
    {
      schema: {
        summary: 'Read the current definition of a workflow',
        params: WorkflowParams,
        response: { 200: WorkflowDefinition },
      },
    },
    async (request, reply) => {
      // Not resolved, so that it can be read even while a pack that it uses is missing
      const record = await records.workflow(callerOf(request).tenant, request.params.workflowId);
      const body = record && (await records.definition(record.hash));
      if (!record || !body) throw new OpenwopError('not_found');
      if (notModified(request, reply, `"${record.hash}"`)) return '';
      return readPayload(request, reply, body);
    },
  );

  app.get(
    '/v1/host/gantry/workflows/:workflowId/versions',
    {
      schema: {
        summary: 'List every version of a workflow, newest first',
        params: WorkflowParams,
        response: { 200: Type.Object({ versions: Type.Array(WorkflowSummary) }) },
      },
    },
    async (request, reply) => {
      const versions = await records.workflowVersions(callerOf(request).tenant, request.params.workflowId);
      if (versions.length === 0) throw new OpenwopError('not_found');
      return readPayload(request, reply, JSON.stringify({ versions: versions.map(summary) }));
    },
  );

  app.get(
    '/v1/host/gantry/workflows/:workflowId/versions/:hash',
    {
      schema: {
        summary: 'Read one version of a workflow by its content hash',
        params: VersionParams,
        response: { 200: WorkflowDefinition },
      },
    },
    async (request, reply) => {
      const { workflowId, hash } = request.params;
      const versions = await records.workflowVersions(callerOf(request).tenant, workflowId);
      const isOwn = versions.some((version) => version.hash === hash);
      const body = isOwn ? await records.definition(hash) : null;
      if (body === null) throw new OpenwopError('not_found');
      if (notModified(request, reply, `"${hash}"`)) return '';
      return readPayload(request, reply, body);
    },
  );
}
