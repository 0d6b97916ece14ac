import { type Connection, connectionsWire, given } from '@gantry/protocol';
import { flag, option } from '../command.ts';
import { UsageError } from '../io.ts';
import { print } from '../output.ts';
import { resourceCommand } from '../resource-command.ts';
import { readSecret, SECRET_OPTIONS } from '../secret-value.ts';
import { readChoice } from '../values.ts';

const SCOPES = ['user', 'workspace'] as const;
const AUTH_METHODS = ['basic', 'post'] as const;

export const connections = resourceCommand<Connection>(connectionsWire, {
  summary: 'connect outside services by OAuth',
  details:
    'A connection pack describes the provider; `configure` gives it the client that you registered there.\n' +
    'The client secret is piped in, typed unseen, or read from a file or variable; it is never shown again.',
  listed: 50,
  columns: {
    CONNECTION: 'connectionId',
    PROVIDER: 'provider',
    FOR: ({ scope, workspace, principal }) => (scope === 'user' ? principal : workspace),
    ACCESS: 'access',
    STATE: ({ state, reason = '' }) => `${state} ${reason}`.trimEnd(),
  },
  none: 'No connections yet. Install a connection pack, then: gantry connections connect PROVIDER',
  actions: {
    connect: {
      takes: '<provider>',
      async act(call, provider = '') {
        const { args, client } = call;
        const scope = readChoice(args.text('scope'), { known: SCOPES, noun: 'scope' });
        const made = await client.connections.connect({
          provider,
          ...(args.flag('write') && { access: 'write' }),
          ...(scope && { scope }),
        });
        const text = made.connection
          ? `${made.connection.connectionId} connected\n`
          : `Open this address in your browser before ${made.expiresAt}:\n${made.authorizeUrl}\n`;
        print(call, made, text);
      },
    },
    configure: {
      takes: '<provider>',
      async act(call, provider = '') {
        const { args, client } = call;
        const clientId = args.text('client-id');
        if (clientId === undefined)
          throw new UsageError('--client-id is the id that the provider gave to your client.');
        const authMethod = readChoice(args.text('auth-method'), { known: AUTH_METHODS, noun: 'method' });
        const secret = args.flag('public') ? {} : { clientSecret: await readSecret(call) };
        const made = await client.connections.configure({
          provider,
          clientId,
          ...secret,
          ...args.given('issuer'),
          ...given({
            authMethod,
            authorizeUrl: args.text('authorize-url'),
            tokenUrl: args.text('token-url'),
          }),
        });
        print(
          call,
          made,
          `${provider} configured\nRegister this redirect URI at the provider: ${made.redirectUri}\n`,
        );
      },
    },
    clients: {
      async act(call) {
        const all = await call.client.connections.clients();
        print(call, all, {
          items: all,
          columns: {
            PROVIDER: 'provider',
            CLIENT: 'clientId',
            SECRET: ({ hasSecret }) => (hasSecret ? 'yes' : 'no'),
            'REDIRECT URI': 'redirectUri',
          },
          none: 'No clients yet. Configure one: gantry connections configure PROVIDER --client-id ID',
        });
      },
    },
    unconfigure: {
      takes: '<provider>',
      async act(call, provider = '') {
        await call.client.connections.unconfigure(provider);
        print(call, { provider, removed: true }, `${provider} removed\n`);
      },
    },
  },
  options: {
    write: flag('ask for write access too, once reading was authorized', { of: ['connect'] }),
    scope: option('S', 'who may use it: user (you) or workspace', { of: ['connect'] }),
    ...SECRET_OPTIONS,
    public: flag('the client has no secret', { of: ['configure'] }),
    'client-id': option('ID', 'the client id that the provider gave you', { of: ['configure'] }),
    'auth-method': option('M', 'how the secret is sent: basic, post (basic)', { of: ['configure'] }),
    issuer: option('URL', 'what the provider calls itself in `iss`', { of: ['configure'] }),
    'authorize-url': option('URL', 'where people sign in, instead of what the pack says', {
      of: ['configure'],
    }),
    'token-url': option('URL', 'its token endpoint, instead of what the pack says', { of: ['configure'] }),
  },
  examples: [
    'gantry connections configure acme --client-id ID < secret.txt',
    'gantry connections connect acme',
    'gantry connections connect acme --write',
    'gantry connections',
  ],
});
