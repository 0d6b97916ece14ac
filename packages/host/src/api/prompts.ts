/** Prompts: list, read, and preview with values. */
import { hash } from 'node:crypto';
import { type Api, callerOf, notModified, readPayload } from '@gantry/http';
import { ErrorEnvelope, OpenwopError } from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { composePrompt } from '../packs/prompts/compose.ts';
import type { PromptLibrary } from '../packs/prompts/prompt-library.ts';
import { LibraryId, readPromptRef, TemplateId, TemplateVersion } from '../packs/prompts/prompt-ref.ts';

const URL = '/v1/prompts';
const ONE = `${URL}/:templateId(^[^:/]+)`;
const LIST_DEFAULT = 50;
const LIST_MAX = 200;
export const RENDER_BYTES_MAX = 262_144;
export const PROMPT_KINDS = ['system', 'user', 'few-shot', 'schema-hint'];

const closed = { additionalProperties: false } as const;
const Word = Type.String({ minLength: 1, maxLength: 256 });
const Values = Type.Record(Type.String(), Type.Unknown());
const Trust = Type.Enum(['trusted', 'untrusted']);
const workspace = { workspaceId: Type.Optional(Word) };
const Params = Type.Object({ templateId: TemplateId });

const LIST = {
  summary: 'List the prompts of installed packs',
  querystring: Type.Object(
    {
      ...workspace,
      kind: Type.Optional(Type.Enum(PROMPT_KINDS)),
      tag: Type.Optional(Type.Union([Word, Type.Array(Word, { maxItems: 32 })])),
      modelClass: Type.Optional(Word),
      source: Type.Optional(Type.Enum(['host', 'pack', 'user'])),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_MAX })),
    },
    closed,
  ),
  response: {
    200: Type.Object({ items: Type.Array(Values), nextCursor: Type.Optional(Type.String()) }),
  },
};
const READ = {
  summary: 'Read a prompt: the version that is named, else the latest',
  params: Params,
  querystring: Type.Object(
    { ...workspace, version: Type.Optional(TemplateVersion), libraryId: Type.Optional(LibraryId) },
    closed,
  ),
  response: { 200: Values },
};
const RENDER = {
  summary: 'Fill in a prompt without sending it to a model',
  body: Type.Object(
    { ...workspace, ref: Type.Union([Word, Values]), variables: Values, contentTrust: Type.Optional(Trust) },
    closed,
  ),
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
const NOT_SERVED = { summary: 'Not served: prompts come with packs', response: { 501: ErrorEnvelope } };
const NOT_SERVED_ONE = { ...NOT_SERVED, params: Params };

export function promptRoutes(app: Api, library: PromptLibrary): void {
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
    // Private: a shared cache must not hand the prompts of one tenant to another.
    const age = named.version === undefined ? 'max-age=60' : 'max-age=31536000, immutable';
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

  unservedRoutes(app);
}

type Filter = Omit<Static<(typeof LIST)['querystring']>, 'cursor' | 'limit' | 'workspaceId'>;

const filterOf = ({ tag = [], ...rest }: Filter) => ({ ...rest, tags: [tag].flat() });

/** Keys belong to a tenant and to no workspace. */
function refuseWorkspace(workspaceId: string | undefined): void {
  if (workspaceId !== undefined) throw new OpenwopError('workspace_membership_required');
}

/** The protocol wants a library that cannot be written to say so, rather than that there is no such route. */
function unservedRoutes(app: Api): void {
  const refuse = async (): Promise<never> => {
    throw new OpenwopError('capability_not_provided', {
      message: 'Prompts come with packs here; this library is not written to.',
      details: { capability: 'prompts.mutableLibrary' },
    });
  };
  app.post(URL, { schema: NOT_SERVED }, refuse);
  app.put(ONE, { schema: NOT_SERVED_ONE }, refuse);
  app.delete(ONE, { schema: NOT_SERVED_ONE }, refuse);
}
