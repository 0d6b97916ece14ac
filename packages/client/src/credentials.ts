import type { credentialsWire } from '@gantry/protocol';
import { CREDENTIALS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import type { Transport } from './transport.ts';

/** Values go in and never come out. */
export type Credentials = ResourceApi<typeof credentialsWire>;

export type CredentialPage = Awaited<ReturnType<Credentials['list']>>;

export const createCredentials = (transport: Transport): Credentials =>
  api<typeof credentialsWire>(transport, CREDENTIALS);
