/** Packs: install, list, grant, remove. */
import { type Api, callerOf, type Idempotency, readPayload } from '@gantry/http';
import { ARCHIVE_LIMITS } from '@gantry/packs';
import {
  closedObject,
  GrantRequest,
  InstalledPack,
  invalid,
  PackDetail,
  PackPlan,
  PackPlanResult,
  PackReceipts,
} from '@gantry/protocol';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/schema';
import type { PlanRequest } from '../packs/pack-plan.ts';
import type { PackAddress, PackService } from '../packs/pack-service.ts';

const URL = '/v1/host/gantry/packs';
const ONE = `${URL}/:name`;
const ARCHIVE_TYPES = ['application/gzip', 'application/x-gzip', 'application/octet-stream'];

const Version = Type.String({ minLength: 1, maxLength: 128 });
const Params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 256 }) });

/** One pack from the host's registries; `PackPlan` is for several packs. */
const FromRegistry = closedObject({
  name: Type.String({ minLength: 1, maxLength: 256 }),
  range: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  grant: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 })),
});

const INSTALL = {
  summary: 'Install a pack from its archive, or packs by name from a registry, granting what they need',
  querystring: closedObject({
    /** Ids of `runtime.requires`, and of surfaces such as `host.kvStorage`, separated by commas. */
    grant: Type.Optional(Type.String({ maxLength: 512 })),
    /** Later installs may replace the content of this version. */
    development: Type.Optional(Type.Enum(['true', 'false'])),
    /** Permits replacing a newer version. */
    older: Type.Optional(Type.Enum(['true', 'false'])),
  }),
  response: {
    200: Type.Union([InstalledPack, PackPlanResult]),
    201: Type.Union([InstalledPack, PackPlanResult]),
  },
};
const LIST = {
  summary: 'List the installed packs',
  response: { 200: Type.Object({ packs: Type.Array(InstalledPack) }) },
};
const DETAIL = {
  summary: 'Read a pack, its permissions and grants',
  params: Params,
  response: { 200: PackDetail },
};
const GRANT = {
  summary: 'Set the permissions of a pack',
  params: Params,
  body: GrantRequest,
  response: { 200: PackDetail },
};
const REMOVE = {
  summary: 'Uninstall a pack, or one version of it',
  params: Params,
  querystring: closedObject({ version: Type.Optional(Version) }),
  response: { 204: Type.Null() },
};
const RECEIPTS = {
  summary: 'Compare the permissions that a pack used with those it was granted',
  params: Params,
  response: { 200: PackReceipts },
};

const addressOf = (request: { params: { name: string } }): PackAddress => ({
  tenant: callerOf(request).tenant,
  name: request.params.name,
});

export function packRoutes(app: Api, service: PackService, idempotency: Idempotency): void {
  // A separate scope: no other route accepts bytes.
  app.register(async (scope: Api) => installRoute(scope, service));

  app.get(URL, { schema: LIST }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify({ packs: await service.list(callerOf(request).tenant) })),
  );

  app.get(ONE, { schema: DETAIL }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify(await service.detail(addressOf(request)))),
  );

  app.post(`${ONE}/grants`, { schema: GRANT }, async (request) =>
    service.grant(addressOf(request), request.body.requires, callerOf(request).principal),
  );

  app.delete(ONE, { schema: REMOVE }, (request, reply) => {
    const { version = '' } = request.query;
    const operation = `DELETE ${URL}/${request.params.name}@${version}`;
    return idempotency.answer(request, reply, operation, async (record) => {
      const isFirst = await service.remove(addressOf(request), request.query.version, record?.(204, ''));
      return isFirst ? { status: 204, body: '', recorded: true } : 'duplicate';
    });
  });

  app.get(`${ONE}/receipts`, { schema: RECEIPTS }, async (request, reply) =>
    readPayload(request, reply, JSON.stringify(await service.receipts(addressOf(request)))),
  );
}

function installRoute(app: Api, service: PackService): void {
  const bodyLimit = ARCHIVE_LIMITS.archiveBytesMax;
  app.addContentTypeParser(ARCHIVE_TYPES, { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
  app.post(URL, { schema: INSTALL, bodyLimit }, async (request, reply) => {
    const { body } = request;
    const { tenant, principal: by } = callerOf(request);
    if (Check(PackPlan, body)) {
      const result = await service.installPlan({ tenant, by, ...planned(body) });
      return reply.code(result.installed.length > 0 ? 201 : 200).send(result);
    }
    const { grant = '', development, older } = request.query;
    const { changed, view } =
      body instanceof Uint8Array
        ? await service.install({
            tenant,
            by,
            archive: body,
            development: development === 'true',
            older: older === 'true',
            grant: grant.split(',').filter((id) => id !== ''),
          })
        : await service.installNamed({ tenant, by, grant: [], ...named(body) });
    return reply.code(changed ? 201 : 200).send(view);
  });
}

function planned({ packs, frozen, grants = {}, ...rest }: PackPlan): Omit<PlanRequest, 'tenant' | 'by'> {
  const roots = packs.map(({ name, range = '*', requestedBy = 'the request' }) => ({
    name,
    range,
    requestedBy,
  }));
  return { ...rest, roots, isFrozen: frozen, grants };
}

function named(body: unknown): Static<typeof FromRegistry> {
  if (Check(FromRegistry, body)) return body;
  throw invalid(
    'Send the archive of the pack as application/gzip, or what to take from a registry as JSON: { "name", "range", "grant" } or { "packs", "lock", "grants" }.',
  );
}
