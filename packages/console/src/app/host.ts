import { createClient } from '@gantry/client';

/** The host that served this page. */
export const host = createClient({ baseUrl: location.origin, fetch: (...request) => fetch(...request) });
