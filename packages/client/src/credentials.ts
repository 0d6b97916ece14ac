import type { credentialsWire, RekeyStep } from '@gantry/protocol';
import { CREDENTIALS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import { createCalls } from './calls.ts';
import type { Transport } from './transport.ts';

/** Values go in and never come out. */
export interface Credentials extends ResourceApi<typeof credentialsWire> {
  /** One step to a new root key of the database; `after` is `next` of the step before. */
  rekey(after?: string): Promise<RekeyStep>;
}

export type CredentialPage = Awaited<ReturnType<Credentials['list']>>;

export const createCredentials = (transport: Transport): Credentials => ({
  ...api<typeof credentialsWire>(transport, CREDENTIALS),
  rekey: (after) =>
    createCalls(transport).send('/v1/host/gantry/rekey', after === undefined ? {} : { after }),
});
