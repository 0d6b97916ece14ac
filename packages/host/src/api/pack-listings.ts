/** The two listings that a host without a registry declines, in the form that the protocol asks for. */
import type { Api } from '@gantry/http';
import { ErrorEnvelope, OpenwopError } from '@gantry/protocol';

const DECLINED = { summary: 'Served by hosts that are a registry too', response: { 404: ErrorEnvelope } };

export function declinedListings(app: Api): void {
  for (const url of ['/v1/packs', '/v1/packs/export'])
    app.get(url, { schema: DECLINED }, async () => {
      throw new OpenwopError('not_implemented');
    });
}
