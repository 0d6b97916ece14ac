/** Prompts: list, read, write, and preview with values. */
import { hash } from 'node:crypto';
import { type Api, callerOf, type Idempotency, notModified, readPayload, warn } from '@gantry/http';
import { PromptTemplate } from '@gantry/packs';
import { closedObject, invalid, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { composePrompt } from '../prompts/compose.ts';
import { VERSION_KEPT_SECONDS } from '../prompts/own-prompts.ts';
import type { PromptLibrary } from '../prompts/prompt-library.ts';
import { LibraryId, readPromptRef, TemplateId, TemplateVersion } from '../prompts/prompt-ref.ts';
import { changed } from './resources.ts';
import { unknownPlaceholders } from './unknown-names.ts';

const URL = '/v1/prompts';
const ONE = `${URL}/:templateId(^[^:/]+)`;
const LIST_DEFAULT = 50;
const LIST_MAX = 200;
export const RENDER_BYTES_MAX = 262_144;
export const PROMPT_KINDS = ['system', 'user', 'few-shot', 'schema-hint'];

const Word = Type.String({ minLength: 1, maxLength: 256 });
const Values = Type.Record(Type.String(), Type.Unknown());
const Trust = Type.Enum(['trusted', 'untrusted']);
const workspace = { workspaceId: Type.Optional(Word) };
const Params = Type.Object({ templateId: TemplateId });

const LIST = {
  summary: 'List the prompts of installed packs',
  querystring: closedObject({
    ...workspace,
    kind: Type.Optional(Type.Enum(PROMPT_KINDS)),
    tag: Type.Optional(Type.Union([Word, Type.Array(Word, { maxItems: 32 })])),
    modelClass: Type.Optional(Word),
    source: Type.Optional(Type.Enum(['host', 'pack', 'user'])),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
  }),
  response: {
    200: Type.Object({ items: Type.Array(Values), nextCursor: Type.Optional(Type.String()) }),
  },
};
const READ = {
  summary: 'Read a prompt: the version that is named, else the latest',
  params: Params,
  querystring: closedObject({
    ...workspace,
    version: Type.Optional(TemplateVersion),
    libraryId: Type.Optional(LibraryId),
  }),
  response: { 200: Values },
};
const RENDER = {
  summary: 'Fill in a prompt without sending it to a model',
  body: closedObject({
    ...workspace,
    ref: Type.Union([Word, Values]),
    variables: Values,
    contentTrust: Type.Optional(Trust),
  }),
  response: {
    200: Type.Object({
      composed: Type.String(),
      hash: Type.String(),
      refs: Type.Array(Type.String()),
      variableHashes: Type.Record(Type.String(), Type.String()),
      contentTrust: Trust,
    }),
  },
};
const Written = closedObject({ ...PromptTemplate.properties, ...workspace });
const CREATE = {
  summary: 'Create a prompt of the tenant',
  body: Written,
  response: { 201: Values },
};
const REPLACE = {
  summary: 'Add a higher version of a prompt of the tenant; earlier ones stay',
  params: Params,
  body: Written,
  response: { 200: Values },
};
const REMOVE = {
  summary: 'Delete a prompt of the tenant with all of its versions, which cannot be created again',
  params: Params,
  querystring: closedObject(workspace),
  response: { 204: Type.Null() },
};

export function promptRoutes(app: Api, library: PromptLibrary, idempotency: Idempotency): void {
  readRoutes(app, library);
  writeRoutes(app, library, idempotency);
}

function readRoutes(app: Api, library: PromptLibrary): void {
  app.get(URL, { schema: LIST }, async (request, reply) => {
    const { cursor, limit = LIST_DEFAULT, workspaceId, ...filter } = request.query;
    refuseWorkspace(workspaceId);
    const page = await library.list(callerOf(request).tenant, filterOf(filter), { after: cursor, limit });
    return readPayload(request, reply, JSON.stringify(page));
  });

  app.get(ONE, { schema: READ }, async (request, reply) => {
    const { workspaceId, ...named } = request.query;
    refuseWorkspace(workspaceId);
    const template = await library.find(callerOf(request).tenant, { ...request.params, ...named });
    const body = JSON.stringify(template);
    // Private: a shared cache must not serve the prompts of one tenant to another.
    const age = named.version === undefined ? 'max-age=60' : `max-age=${VERSION_KEPT_SECONDS}, immutable`;
    void reply.header('cache-control', `private, ${age}`);
    if (notModified(request, reply, `"${hash('sha256', body, 'hex').slice(0, 32)}"`)) return '';
    return readPayload(request, reply, body);
  });

  app.post(`${URL}::render`, { schema: RENDER, bodyLimit: RENDER_BYTES_MAX }, async (request) => {
    const { ref: given, variables, contentTrust, workspaceId } = request.body;
    refuseWorkspace(workspaceId);
    const ref = readPromptRef(given);
    const template = await library.find(callerOf(request).tenant, ref);
    return composePrompt(template, { ...variables, ...ref.variableOverrides }, contentTrust);
  });
}

type Filter = Omit<Static<(typeof LIST)['querystring']>, 'cursor' | 'limit' | 'workspaceId'>;

const filterOf = ({ tag = [], ...rest }: Filter) => ({ ...rest, tags: [tag].flat() });

/** Prompts belong to a tenant, not to a workspace. */
function refuseWorkspace(workspaceId: string | undefined): void {
  if (workspaceId !== undefined) throw new OpenwopError('workspace_membership_required');
}

function writeRoutes(app: Api, library: PromptLibrary, idempotency: Idempotency): void {
  app.post(URL, { schema: CREATE }, (request, reply) => {
    const template = writtenOf(request.body);
    warn(reply, unknownPlaceholders(template));
    void reply.code(201).header('location', `${URL}/${template.templateId}`);
    return changed(request, reply, idempotency, (caller) => library.create(caller, template));
  });

  app.put(ONE, { schema: REPLACE }, (request, reply) => {
    const template = writtenOf(request.body);
    warn(reply, unknownPlaceholders(template));
    const { templateId } = request.params;
    if (template.templateId !== templateId)
      throw invalid(
        `The body is of ${template.templateId}, the path of ${templateId}. They must be the same.`,
        { path: '/templateId' },
      );
    return changed(request, reply, idempotency, (caller) => library.replace(caller, templateId, template));
  });

  app.delete(ONE, { schema: REMOVE }, async (request, reply) => {
    refuseWorkspace(request.query.workspaceId);
    await changed(request, reply, idempotency, (caller) => library.remove(caller, request.params.templateId));
    void reply.code(204);
    return '';
  });
}

function writtenOf({ workspaceId, ...template }: Static<typeof Written>): PromptTemplate {
  refuseWorkspace(workspaceId);
  template.variables?.forEach(({ source }, index) => {
    if (source === 'secret')
      throw new OpenwopError('prompt_template_invalid', {
        message: 'Prompts cannot contain secrets. Send a credential where it is used.',
        details: { path: `/variables/${index}/source` },
      });
  });
  return template;
}
