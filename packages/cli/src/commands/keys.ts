import type { OfTenant } from '@gantry/client';
import {
  didYouMean,
  given,
  isRoleScope,
  isScope,
  type KeySummary,
  type NewKey,
  SCOPES,
} from '@gantry/protocol';
import { type Actions, actionCommand } from '../actions.ts';
import { type Call, flag, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { print, printSecret } from '../output.ts';

const ofTenant = ({ args }: Call): OfTenant => args.given('tenant');

function stateOf({ revokedAt, expiresAt }: KeySummary, now: number): string {
  if (revokedAt) return 'revoked';
  if (expiresAt === undefined) return 'valid';
  return Date.parse(expiresAt) <= now ? 'expired' : `until ${expiresAt}`;
}

const YEAR_SECONDS = 366 * 86_400;

const ACTIONS: Actions = {
  ls: {
    async act(call) {
      const all = await call.client.keys.list(ofTenant(call));
      print(call, all, {
        items: all,
        columns: {
          KEY: 'keyId',
          NAME: 'name',
          PRINCIPAL: 'principal',
          TENANT: 'tenant',
          WORKSPACE: 'workspace',
          STATE: stateOf,
          SCOPES: ({ scopes }) => scopes.join(','),
        },
        none: 'No keys. Make one: gantry keys create NAME --scopes runs:read',
      });
    },
  },
  create: {
    takes: '<name> --scopes a,b',
    async act(call, name = '') {
      const { args, client } = call;
      const expiresInSeconds = args.whole('expires-in', 1, 100 * YEAR_SECONDS);
      const made = await client.keys.create({
        name,
        scopes: readScopes(args.text('scopes')),
        ...ofTenant(call),
        ...args.given('workspace'),
        ...(args.flag('test') && { test: true }),
        ...given({ expiresInSeconds }),
      });
      showOnce(call, made);
    },
  },
  rotate: {
    takes: '<keyId>',
    async act(call, keyId = '') {
      const graceSeconds = call.args.whole('grace', 0, YEAR_SECONDS);
      const terms = { ...ofTenant(call), ...given({ graceSeconds }) };
      showOnce(call, await call.client.keys.rotate(keyId, terms));
    },
  },
  revoke: {
    takes: '<keyId>',
    async act(call, keyId = '') {
      await call.client.keys.revoke(keyId, ofTenant(call));
      print(call, { keyId, revoked: true }, `${keyId} revoked\n`);
    },
  },
};

export const keys = actionCommand({
  name: 'keys',
  summary: 'list, create, rotate and revoke API keys',
  usage: 'keys ls | create <name> --scopes a,b | rotate <keyId> | revoke <keyId>',
  details: `Lost the admin key? Start the host with GANTRY_ADMIN_KEY=$(openssl rand -hex 32), use that as GANTRY_API_KEY, and\nrotate the lost one: it is listed with the scope host:admin. Then start without GANTRY_ADMIN_KEY.\n\nScopes: ${SCOPES.join(', ')}`,
  options: {
    scopes: option('A,B', 'what the key may do; no scope implies another', { of: ['create'] }),
    tenant: option('ID', 'whose keys; another than your own is for host admins'),
    workspace: option(
      'NAME',
      'of what is made with the key; your own without it, another is for host admins',
      {
        of: ['create'],
      },
    ),
    test: flag('a key for test data', { of: ['create'] }),
    'expires-in': option('S', 'valid for S seconds', { of: ['create'] }),
    grace: option('S', 'the old key stays valid for S seconds', { of: ['rotate'] }),
    json: flag('print JSON'),
  },
  examples: [
    'gantry keys ls',
    'gantry keys create ci --scopes runs:create,runs:read',
    'gantry keys rotate KEY --grace 86400',
    'gantry keys rotate KEY --grace 0',
  ],
  actions: ACTIONS,
  isNamed: true,
});

function readScopes(list: string | undefined): string[] {
  const scopes = (list ?? '').split(',').filter((scope) => scope !== '');
  if (scopes.length === 0) throw new UsageError(`--scopes names at least one of: ${SCOPES.join(', ')}`);
  const wrong = scopes.find((scope) => !isScope(scope) && !isRoleScope(scope));
  if (wrong !== undefined) {
    throw new UsageError(
      `There is no scope "${wrong}".${didYouMean(wrong, SCOPES) || ' See `gantry help keys`.'}`,
    );
  }
  return scopes;
}

const showOnce = (call: Call, made: NewKey): void => printSecret(call, made, made.key, `Key ${made.keyId}.`);
