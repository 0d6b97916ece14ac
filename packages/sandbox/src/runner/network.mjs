/** `fetch` and `dns` as pack code knows them; the host does the work and guards it. */
import { here } from './frames.mjs';
import { call, current, denied, isGranted, underWay } from './scope.mjs';

const NO_BODY_STATUS = new Set([101, 103, 204, 205, 304]);

/** `{ status, headers, body }` from the host as the `Response` that packs expect. */
export function toResponse(answer) {
  const body = NO_BODY_STATUS.has(answer.status) ? null : answer.body;
  const response = new Response(body, { status: answer.status, headers: new Headers(answer.headers) });
  Object.defineProperty(response, 'url', { value: answer.url });
  Object.defineProperty(response, 'redirected', { value: answer.redirected === true });
  return response;
}

/** The arguments of `fetch` as data. */
export async function toRequest(input, init) {
  const request = new Request(input, init);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  return [request.url, { method: request.method, headers, body, redirect: request.redirect }];
}

/** A call with the arguments of `fetch`, which take a moment to read. */
export function callForResponse(invocation, method, input, init) {
  const site = here(callForResponse);
  return underWay(invocation, async () =>
    toResponse(await call(invocation, method, await toRequest(input, init), site)),
  );
}

export async function fetch(input, init) {
  if (!isGranted('net.outbound')) throw denied('net.outbound');
  return callForResponse(current(), 'net.fetch', input, init);
}

async function addresses(hostname, family) {
  if (!isGranted('net.dns')) throw denied('net.dns');
  const found = await call(current(), 'net.dns', [`${hostname}`]);
  const fitting = found.filter((item) => !family || item.family === family);
  if (fitting.length > 0) return fitting;
  const error = new Error(`getaddrinfo ENOTFOUND ${hostname}`);
  throw Object.assign(error, { code: 'ENOTFOUND', hostname });
}

async function lookup(hostname, options) {
  const wanted = typeof options === 'number' ? { family: options } : (options ?? {});
  const found = await addresses(hostname, wanted.family);
  return wanted.all ? found : found[0];
}

const plain = async (hostname, family) => (await addresses(hostname, family)).map(({ address }) => address);

const dnsPromises = {
  lookup,
  resolve: (hostname, type = 'A') =>
    type === 'A' || type === 'AAAA'
      ? plain(hostname, type === 'A' ? 4 : 6)
      : Promise.reject(denied(`net.dns ${type} records`)),
  resolve4: (hostname) => plain(hostname, 4),
  resolve6: (hostname) => plain(hostname, 6),
};

/** The last argument is the callback, as in `node:dns`. */
const withCallback =
  (promised, spread) =>
  (...args) => {
    const callback = args.pop();
    promised(...args).then((value) => callback(null, ...spread(value)), callback);
  };

const one = (value) => [value];
const dnsCallbacks = {
  promises: dnsPromises,
  lookup: withCallback(lookup, (value) =>
    value.address === undefined ? [value] : [value.address, value.family],
  ),
  resolve: withCallback(dnsPromises.resolve, one),
  resolve4: withCallback(dnsPromises.resolve4, one),
  resolve6: withCallback(dnsPromises.resolve6, one),
};

export { dnsCallbacks, dnsPromises };
