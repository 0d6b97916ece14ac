import { type Api, callerOf, HOST_ADMIN, liveTenant } from '@gantry/http';
import { closedObject } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { refuseTestKey } from '../access.ts';
import type { PublishedVersion } from '../catalogue/catalogue.ts';
import type { StoreCatalogue, VersionAddress, VersionDecision } from '../catalogue/store-catalogue.ts';
import type { VersionState } from '../catalogue/version-entry.ts';
import type { Claims } from '../keychain/claims.ts';
import { type Act, deprecate, revertYank, undeprecate, unpublish, yank } from '../lifecycle/lifecycle.ts';
import { checkName, checkVersion } from '../publish/address.ts';
import { lifecycleAnswer, VersionParams } from './pack-metadata.ts';

const Reason = Type.String({ minLength: 1, maxLength: 512 });

const DEPRECATE = {
  summary: 'Mark a version as deprecated; it stays usable',
  params: VersionParams,
  body: closedObject({
    reason: Reason,
    supersededBy: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  }),
};
const YANK = {
  summary: 'Yank a version: ranges no longer select it, exact pins do',
  params: VersionParams,
  body: closedObject({
    reason: Reason,
    advisoryUrl: Type.Optional(Type.String({ maxLength: 2048, pattern: '^https://[^\\s]+$' })),
  }),
};

interface LifecycleDeps {
  readonly catalogue: StoreCatalogue;
  readonly claims: Claims;
  readonly now: () => number;
}

type Decide<T> = (state: VersionState | undefined) => VersionDecision<T>;

export function lifecycleRoutes(app: Api, deps: LifecycleDeps): void {
  const url = `/v1/${deps.catalogue.name}/:name/-/:version`;
  const change = changeWith(deps);
  const answer = async (
    request: FastifyRequest,
    address: VersionAddress,
    decide: (act: Act) => Decide<PublishedVersion>,
  ) => lifecycleAnswer(await change(request, address, decide));
  const described = (summary: string) => ({ schema: { summary, params: VersionParams } });

  app.post(`${url}/deprecate`, { schema: DEPRECATE }, (request) =>
    answer(request, request.params, (act) => deprecate(request.body, act)),
  );
  app.delete(`${url}/deprecate`, described('Revert a deprecation'), (request) =>
    answer(request, request.params, undeprecate),
  );
  app.post(`${url}/yank`, { schema: YANK }, (request) =>
    answer(request, request.params, (act) => yank(request.body, act)),
  );
  app.delete(`${url}/yank`, described('Revert a yank; it stays on record'), (request) =>
    answer(request, request.params, revertYank),
  );
  app.delete(url, described('Unpublish a version within 72 hours of publishing'), async (request, reply) => {
    await change(request, request.params, unpublish);
    return reply.code(200).send({ ...request.params, unpublished: true });
  });
}

/** Only tenants that may publish a name may change its versions. */
function changeWith({ catalogue, claims, now }: LifecycleDeps) {
  return async <T>(
    request: FastifyRequest,
    { name, version }: VersionAddress,
    decide: (act: Act) => Decide<T>,
  ): Promise<T> => {
    checkName(name);
    checkVersion(version);
    const caller = callerOf(request);
    refuseTestKey(catalogue.name, caller);
    if (!caller.scopes.has(HOST_ADMIN)) claims.refuseOutside(name, liveTenant(caller.tenant));
    return catalogue.change({ name, version }, caller.keyId, decide({ by: caller.keyId, now: now() }));
  };
}
