/**
 * Opens connections only to addresses that were checked.
 *
 * C1 A socket is given addresses, never a name to resolve.
 * C2 Before the first byte is sent, the remote address is checked again.
 * C3 The certificate must be valid for the name in the URL, whatever the environment variables are.
 */
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { isIP, isIPv6, connect as netConnect, type Socket } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { canonicalAddress } from './address.ts';
import { type EgressReason, egressError } from './error.ts';
import type { Target, TargetHost } from './target.ts';

/** If several addresses are pinned, the next one is tried after this time without an answer. */
const ATTEMPT_MS = 1000;
const ATTEMPTS_MAX = 4;

/** The diagnostics channel with each socket that egress opens, as `{ socket }`, for code that tracks sockets. */
export const OPENED = 'gantry.egress.socket';
const opened = channel(OPENED);

export interface Connection {
  readonly socket: Socket;
  readonly address: string;
}

interface ConnectOptions {
  /** Canonical and allowed, as `resolve` returns them. */
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
}

/** Afterwards the socket is ready or destroyed. The listener catches late errors, which would end the process. */
async function ready(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  reason: EgressReason,
  happened: string,
): Promise<void> {
  socket.on('error', () => {});
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw egressError(reason, happened, error);
  }
}

function open(port: number, addresses: readonly string[]): Socket {
  const pinned = addresses
    .slice(0, ATTEMPTS_MAX)
    .map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const socket = netConnect({
    // C1: a name that cannot exist, so that any other lookup fails instead of connecting.
    host: 'pinned.invalid',
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    lookup: (_name, _options, answer) => answer(null, pinned),
    noDelay: true,
  });
  opened.publish({ socket });
  return socket;
}

/** C2: the remote address, if it is one of the checked addresses. */
export function pinnedAddress(
  remoteAddress: string | undefined,
  addresses: readonly string[],
  { problemOf }: Pick<TargetHost, 'problemOf'>,
): string | undefined {
  const address = remoteAddress === undefined ? undefined : canonicalAddress(remoteAddress);
  if (address === undefined || !addresses.includes(address)) return undefined;
  return problemOf(address) === undefined ? address : undefined;
}

/** C3: NODE_TLS_REJECT_UNAUTHORIZED=0 does not override an explicit `rejectUnauthorized`. */
async function secure(socket: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  const secured = tlsConnect({
    socket,
    host,
    servername: isIP(host) ? '' : host,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  });
  const happened = `No secure connection to ${host} could be made.`;
  await ready(secured, 'secureConnect', signal, 'tls_failed', happened);
  return secured;
}

export async function connect(target: Target, { addresses, signal }: ConnectOptions): Promise<Connection> {
  const { url, host, port } = target;
  signal.throwIfAborted();
  const socket = open(port, addresses);
  await ready(socket, 'connect', signal, 'connect_failed', `No connection to ${host} could be made.`);
  const address = pinnedAddress(socket.remoteAddress, addresses, target);
  if (address === undefined) {
    const reason = socket.remoteAddress === undefined ? 'connect_failed' : 'address_not_allowed';
    socket.destroy();
    throw egressError(reason, `The connection to ${host} did not stay with a checked address.`);
  }
  return { socket: url.protocol === 'https:' ? await secure(socket, host, signal) : socket, address };
}
