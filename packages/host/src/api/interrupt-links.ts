/** Interrupts by signed token: links for people, the HTML page behind them, and the routes of the protocol. */
import {
  type Answer,
  type Api,
  type Caller,
  callerOf,
  FORM_MEDIA,
  type FormFields,
  type Idempotency,
  knownCaller,
  parseForm,
  readPayload,
  setCaller,
} from '@gantry/http';
import {
  DEFAULT_WORKSPACE,
  InterruptLink,
  InterruptLinkRequest,
  invalid,
  isoTime,
  OpenInterrupt as OpenInterruptSchema,
  OpenwopError,
  ResolveInterruptResponse,
} from '@gantry/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { answerIn } from '../interrupts/answer-form.ts';
import { answeredPage, askedPage, refusedPage } from '../interrupts/answer-page.ts';
import { linkHolder, linkOf, linkRefusal, nameProblem } from '../interrupts/approval-links.ts';
import type { InterruptTokens, TokenClaims } from '../interrupts/interrupt-token.ts';
import { PAGE_HEADERS, refuseOtherSites } from '../page.ts';
import type { ApiDeps } from './context.ts';
import {
  AnswerBody,
  NodeParams,
  openInterrupt,
  RESPOND_SCOPE,
  type Resolution,
  refusalError,
  resolve,
  resolverOf,
  resumeValueIn,
  view,
} from './interrupts.ts';
import { changed } from './resources.ts';

/** Allows a key to create links by which other people answer in their own name. */
export const LINK_SCOPE = 'approvals:link';

const TokenParams = Type.Object({ token: Type.String({ minLength: 1 }) });
const FORM_BYTES_MAX = 256 * 1_024;
const FORM_FIELDS_MAX = 200;

const MAKE = {
  summary: 'Make a link by which one named person answers the open interrupt of a node',
  params: NodeParams,
  body: InterruptLinkRequest,
  response: { 201: InterruptLink },
};
const REVOKE = {
  summary: 'Revoke the links of a person for the open interrupt of a node',
  params: Type.Object({ ...NodeParams.properties, person: Type.String({ minLength: 1, maxLength: 128 }) }),
  response: { 204: Type.Null() },
};
const LOOK = {
  summary: 'Read an interrupt with a signed token; browsers get a page',
  params: TokenParams,
  response: { 200: OpenInterruptSchema },
};
const ANSWER = {
  summary: 'Resolve an interrupt with a signed token',
  params: TokenParams,
  body: AnswerBody,
  response: { 200: ResolveInterruptResponse },
};

export function interruptLinkRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  makeRoute(app, deps);
  revokeRoute(app, deps, idempotency);
  // A separate scope: no other route accepts forms
  app.register(async (scope: Api) => tokenRoutes(scope, deps, idempotency));
}

const LINKS_URL = '/v1/host/gantry/runs/:runId(^[^:/]+)/interrupts/:nodeId/links';

/** Links are not stored: a repeated request creates an equivalent link. */
function makeRoute(app: Api, { runtime, services, originOf, now, log }: ApiDeps): void {
  app.post(LINKS_URL, { schema: MAKE }, async (request, reply) => {
    const { runId, nodeId } = request.params;
    const { person } = request.body;
    const { tenant, keyId } = callerOf(request);
    const problem = nameProblem(person);
    if (problem) throw invalid(`/person ${problem}.`);
    const { interrupt } = await openInterrupt(runtime, { tenant, runId, nodeId });
    const refusal = linkRefusal(interrupt, person);
    if (refusal)
      throw refusalError({
        ...refusal,
        message: `A link for ${person} could not answer: ${refusal.message}`,
      });
    const asked = { key: { tenant, runId }, nodeId, interrupt };
    const made = services.interruptTokens.issueFor(person, asked, now());
    if (!made) throw invalid('The names of the person and the node are too long for a link.');
    log.info({ tenant, keyId, runId, nodeId, person }, 'link for an interrupt made');
    void reply.code(201).header('cache-control', 'no-store');
    return linkOf(originOf(request), person, made);
  });
}

function revokeRoute(app: Api, { runtime, services }: ApiDeps, idempotency: Idempotency): void {
  app.delete(`${LINKS_URL}/:person`, { schema: REVOKE }, async (request, reply) => {
    const { runId, nodeId, person } = request.params;
    const key = { tenant: callerOf(request).tenant, runId };
    await changed(request, reply, idempotency, async (caller) => {
      const { interrupt } = await openInterrupt(runtime, { ...key, nodeId });
      await services.interruptTokens.revoke(caller, person, { key, nodeId, interrupt });
    });
    void reply.code(204);
    return '';
  });
}

/**
 * A token is its own credential. With an API key as well, the answer counts for the key, unless the token is
 * for a person.
 */
function tokenRoutes(app: Api, deps: ApiDeps, idempotency: Idempotency): void {
  const tokens = deps.services.interruptTokens;
  app.addContentTypeParser(
    FORM_MEDIA,
    { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
    async (_: FastifyRequest, body: Buffer) => parseForm(body, FORM_FIELDS_MAX),
  );

  app.get('/v1/interrupts/:token', { schema: LOOK }, async (request, reply) => {
    if (isBrowser(request)) return forPeople(reply, () => askedAt(deps, request.params.token));
    const claims = await tokens.read(request.params.token);
    const { run, interrupt } = await openInterrupt(deps.runtime, claims);
    const body = { ...view(run, claims.nodeId, interrupt), expiresAt: isoTime(claims.expiresAt) };
    const payload = await readPayload(request, reply, JSON.stringify(body));
    void reply.headers({ vary: 'Accept, Accept-Encoding', 'cache-control': 'no-store' });
    return payload;
  });

  app.post('/v1/interrupts/:token', { schema: ANSWER }, async (request, reply) => {
    if (isForm(request)) return forPeople(reply, () => answeredByForm(deps, request, request.params.token));
    const claims = await resolving(tokens, request.params.token);
    const by = holderOf(claims, knownCaller(request));
    setCaller(request, by.caller);
    const resolution = { ...resolutionOf(claims, by), resumeValue: resumeValueIn(request.body) };
    const { interruptId, person } = claims;
    // Two people may use the same Idempotency-Key
    const operation = `POST /v1/interrupts/${interruptId}${person === undefined ? '' : `/${person}`}`;
    return idempotency.answer(request, reply, operation, (record) => resolve(deps, resolution, record));
  });
}

async function resolving(tokens: InterruptTokens, token: string): Promise<TokenClaims> {
  const claims = await tokens.read(token);
  if (claims.intent === 'resolve') return claims;
  throw new OpenwopError('forbidden', {
    message: 'This token allows reading the interrupt, not resolving it.',
  });
}

type Holder = Pick<Resolution, 'by'> & { readonly caller: Caller };

function holderOf(claims: TokenClaims, caller: Caller | null): Holder {
  const { tenant, interruptId, person } = claims;
  const keyless = (principal: string): Caller => ({
    keyId: principal,
    tenant,
    workspace: DEFAULT_WORKSPACE,
    principal,
    scopes: new Set(),
  });
  if (person !== undefined) return { caller: keyless(`link:${person}`), by: linkHolder(person) };
  if (caller?.tenant === tenant && caller.scopes.has(RESPOND_SCOPE))
    return { caller, by: resolverOf(caller) };
  const principal = `token:${interruptId}`;
  return {
    caller: keyless(principal),
    by: { principal, roles: [], scopes: [], authenticated: false },
  };
}

const resolutionOf = (
  { tenant, runId, nodeId, interruptId }: TokenClaims,
  { by }: Holder,
): Omit<Resolution, 'resumeValue'> => ({ key: { tenant, runId }, nodeId, interruptId, by, ifCancelled: 409 });

const isBrowser = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') === true;

const isForm = ({ headers }: FastifyRequest): boolean =>
  headers['content-type']?.toLowerCase().startsWith(FORM_MEDIA) === true;

/** A GET never answers the interrupt: mail scanners open links too. */
async function askedAt(
  { runtime, services }: ApiDeps,
  token: string,
  more: { readonly problem?: string; readonly typed?: FormFields } = {},
): Promise<string> {
  const claims = await services.interruptTokens.read(token);
  const { run, interrupt } = await openInterrupt(runtime, claims);
  return askedPage({ view: view(run, claims.nodeId, interrupt), claims, ...more });
}

async function answeredByForm(
  deps: ApiDeps,
  request: FastifyRequest,
  token: string,
): Promise<string | Refused> {
  refuseOtherSites(request);
  const claims = await resolving(deps.services.interruptTokens, token);
  const holder = holderOf(claims, null);
  setCaller(request, holder.caller);
  const { run, interrupt } = await openInterrupt(deps.runtime, claims);
  const fields = request.body as FormFields;
  try {
    const resumeValue = answerIn(view(run, claims.nodeId, interrupt), fields);
    const answer = await resolve(deps, { ...resolutionOf(claims, holder), resumeValue }, undefined);
    return answeredPage(JSON.parse((answer as Answer).body));
  } catch (error) {
    if (!(error instanceof OpenwopError) || error.code !== 'validation_error') throw error;
    const shown = await askedAt(deps, token, { problem: error.message, typed: fields });
    return { status: error.status, page: shown };
  }
}

interface Refused {
  readonly status: number;
  readonly page: string;
}

/** Errors are pages instead of error envelopes. */
async function forPeople(reply: FastifyReply, make: () => Promise<string | Refused>): Promise<string> {
  void reply.headers({ ...PAGE_HEADERS, vary: 'Accept' });
  try {
    const made = await make();
    if (typeof made === 'string') return made;
    void reply.code(made.status);
    return made.page;
  } catch (error) {
    if (!(error instanceof OpenwopError)) throw error;
    void reply.code(error.status);
    return refusedPage(error.code, error.message);
  }
}
