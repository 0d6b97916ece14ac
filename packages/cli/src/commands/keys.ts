import type { NewKey, OfTenant } from '@gantry/client';
import { isScope, SCOPES } from '@gantry/protocol';
import type { Call, Command } from '../command.ts';
import { EXIT, UsageError } from '../io.ts';
import { table } from '../style.ts';
import { didYouMean } from '../suggest.ts';

const ofTenant = ({ args }: Call): OfTenant => {
  const tenant = args.text('tenant');
  return tenant === undefined ? {} : { tenant };
};

type Action = (call: Call, word: string) => Promise<void>;

const YEAR_SECONDS = 366 * 86_400;

const ACTIONS: Readonly<Record<string, { takes?: string; act: Action }>> = {
  ls: {
    async act(call) {
      const { args, io, client } = call;
      const all = await client.keys.list(ofTenant(call));
      const rows = all.map((key) => {
        const state = key.revokedAt ? 'revoked' : key.expiresAt ? `until ${key.expiresAt}` : 'valid';
        return [key.keyId, key.name, key.tenant, state, key.scopes.join(',')];
      });
      io.stdout.write(
        args.flag('json')
          ? `${JSON.stringify(all, null, 2)}\n`
          : table(['KEY', 'NAME', 'TENANT', 'STATE', 'SCOPES'], rows),
      );
    },
  },
  create: {
    takes: '<name> --scopes a,b',
    async act(call, name) {
      const { args, client } = call;
      const expiresInSeconds = args.whole('expires-in', 1, 100 * YEAR_SECONDS);
      const made = await client.keys.create({
        name,
        scopes: readScopes(args.text('scopes')),
        ...ofTenant(call),
        ...(args.flag('test') && { test: true }),
        ...(expiresInSeconds !== undefined && { expiresInSeconds }),
      });
      showOnce(call, made);
    },
  },
  rotate: {
    takes: '<keyId>',
    async act(call, keyId) {
      const graceSeconds = call.args.whole('grace', 0, YEAR_SECONDS);
      const grace = graceSeconds === undefined ? {} : { graceSeconds };
      showOnce(call, await call.client.keys.rotate(keyId, { ...ofTenant(call), ...grace }));
    },
  },
  revoke: {
    takes: '<keyId>',
    async act(call, keyId) {
      await call.client.keys.revoke(keyId, ofTenant(call));
      call.io.stdout.write(`${keyId} revoked\n`);
    },
  },
};

export const keys: Command = {
  name: 'keys',
  summary: 'list, create, rotate and revoke API keys',
  usage: 'keys ls | create <name> --scopes a,b | rotate <keyId> | revoke <keyId>',
  details: `Scopes: ${SCOPES.join(', ')}`,
  options: {
    scopes: { type: 'string', value: 'A,B', text: 'create: what the key may do; no scope implies another' },
    tenant: { type: 'string', value: 'ID', text: 'whose keys; another than your own is for host admins' },
    test: { type: 'boolean', text: 'create: a key for test data' },
    'expires-in': { type: 'string', value: 'S', text: 'create: valid for S seconds' },
    grace: { type: 'string', value: 'S', text: 'rotate: the old key stays valid for S seconds' },
    json: { type: 'boolean', text: 'print JSON' },
  },
  examples: [
    'gantry keys ls',
    'gantry keys create ci --scopes runs:create,runs:read',
    'gantry keys rotate KEY --grace 86400',
  ],
  words: { min: 1, max: 2 },
  async run(call) {
    const [name = '', word] = call.args.words;
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!action)
      throw new UsageError(`gantry keys cannot "${name}".${didYouMean(name, Object.keys(ACTIONS))}`);
    if (action.takes && word === undefined)
      throw new UsageError(`Usage: gantry keys ${name} ${action.takes}`);
    await action.act(call, word ?? '');
    return EXIT.ok;
  },
};

function readScopes(list: string | undefined): string[] {
  const scopes = (list ?? '').split(',').filter((scope) => scope !== '');
  if (scopes.length === 0) throw new UsageError(`--scopes names at least one of: ${SCOPES.join(', ')}`);
  const wrong = scopes.find((scope) => !isScope(scope));
  if (wrong !== undefined) {
    throw new UsageError(
      `There is no scope "${wrong}".${didYouMean(wrong, SCOPES) || ' See `gantry help keys`.'}`,
    );
  }
  return scopes;
}

/** The key alone goes to stdout, so that it can be piped into a vault. */
function showOnce({ args, io }: Call, made: NewKey): void {
  if (args.flag('json')) {
    io.stdout.write(`${JSON.stringify(made)}\n`);
    return;
  }
  io.stdout.write(`${made.key}\n`);
  io.stderr.write(`Key ${made.keyId}. It is shown this once: keep it now.\n`);
}
