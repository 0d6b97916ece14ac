import { createClient } from '@gantry/client';

/** Other pages cannot send this header, so the host knows ours by it. */
const OWN_PAGE = { 'x-gantry-console': '1' };

/** The host that served this page. */
export const host = createClient({
  baseUrl: location.origin,
  fetch: (url, options) =>
    fetch(url, { ...options, headers: { ...OWN_PAGE, ...(options?.headers as object) } }),
});
