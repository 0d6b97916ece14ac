import type { connectorsWire } from '@gantry/protocol';
import { CONNECTORS } from '@gantry/protocol/tables';
import { api, type ResourceApi } from './api.ts';
import type { Transport } from './transport.ts';

/** What sends messages of runs. */
export type Connectors = ResourceApi<typeof connectorsWire>;

export const createConnectors = (transport: Transport): Connectors =>
  api<typeof connectorsWire>(transport, CONNECTORS);
