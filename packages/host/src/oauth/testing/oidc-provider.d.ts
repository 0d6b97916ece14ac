/** What the tests use of it; the package brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Context {
    readonly oidc: {
      readonly params?: Readonly<Record<string, unknown>>;
      readonly client?: { readonly clientId: string };
      readonly session?: { readonly accountId: string };
      readonly provider: Provider;
    };
  }

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  interface Configuration extends Readonly<Record<string, unknown>> {
    readonly interactions: {
      readonly url: (context: Context, interaction: { readonly uid: string }) => string;
    };
    readonly findAccount: (context: Context, sub: string) => Promise<object>;
    readonly loadExistingGrant: (context: Context) => Promise<Grant>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Configuration);
    readonly Grant: new (of: {
      clientId: string | undefined;
      accountId: string | undefined;
    }) => Grant;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: { readonly login: { readonly accountId: string } },
    ): Promise<void>;
    on(event: 'grant.success' | 'grant.error', listener: (context: Context) => void): void;
  }
}
