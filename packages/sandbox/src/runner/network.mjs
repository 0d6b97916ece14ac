/** `fetch` and `dns` for pack code; the host performs and guards the requests. */
import { here } from './frames.mjs';
import { call, current, denied, isGranted, underWay } from './scope.mjs';

const NO_BODY_STATUS = new Set([101, 103, 204, 205, 304]);

/** Converts `{ status, headers, body }` from the host to the `Response` that packs expect. */
function toResponse(answer) {
  const body = NO_BODY_STATUS.has(answer.status) ? null : answer.body;
  const response = new Response(body, { status: answer.status, headers: new Headers(answer.headers) });
  Object.defineProperty(response, 'url', { value: answer.url });
  Object.defineProperty(response, 'redirected', { value: answer.redirected === true });
  return response;
}

/** The arguments of `fetch`. The text of a URL is not normalized: the host checks it as it was given. */
function requestOf(input, init) {
  if (input instanceof Request) return [input.url, new Request(input, init)];
  return [`${input}`, new Request('https://unused.invalid/', init)];
}

async function toData(url, request, credential) {
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  const { method, redirect } = request;
  const init = { method, headers: Object.fromEntries(request.headers), redirect };
  if (body !== undefined) init.body = body;
  // Not part of `Request`
  if (credential !== undefined) init.credential = { ref: `${credential?.ref}` };
  return [url, init];
}

/** Rejects as soon as the signal of the caller is aborted; the host continues, and records the outcome. */
function unlessAborted(signal, answer) {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** A call with the arguments of `fetch`, whose body is read asynchronously. */
export async function callForResponse(invocation, method, input, init) {
  const site = here(callForResponse);
  const [url, request] = requestOf(input, init);
  request.signal.throwIfAborted();
  const answer = underWay(invocation, async () =>
    toResponse(await call(invocation, method, await toData(url, request, init?.credential), site)),
  );
  return unlessAborted(request.signal, answer);
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

export const dnsPromises = {
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
export const dnsCallbacks = {
  promises: dnsPromises,
  lookup: withCallback(lookup, (value) =>
    value.address === undefined ? [value] : [value.address, value.family],
  ),
  resolve: withCallback(dnsPromises.resolve, one),
  resolve4: withCallback(dnsPromises.resolve4, one),
  resolve6: withCallback(dnsPromises.resolve6, one),
};
