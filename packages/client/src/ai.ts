import type { AiProvider, AiProviders } from '@gantry/protocol';
import type { Transport } from './transport.ts';

/** Models that the host can ask. */
export interface Ai {
  /** Those that the key may name; endpoints of the operator are asked whether they answer. */
  providers(): Promise<AiProvider[]>;
}

export const createAi = (transport: Transport): Ai => ({
  providers: async () =>
    (await transport.request<AiProviders>({ method: 'GET', path: '/v1/host/gantry/ai/providers' })).providers,
});
