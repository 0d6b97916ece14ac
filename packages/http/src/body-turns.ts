/**
 * Schedules the parsing of request bodies, once their bytes have arrived.
 *
 * I1  Tenants take turns on the thread. A body that is large to parse is large to validate and process, so the
 *     handler starts in the turn of its body.
 * I2  The large bodies of one tenant that are being processed have at most as many bytes as the limit of one
 *     request, until they are answered: others would wait for what they write to disk.
 * I3  If the client disconnects while its body waits, the request is dropped; if it does so later, its share is
 *     released.
 */
import type { Socket } from 'node:net';
import { limiter, type Release, type Turns } from '@gantry/limiter';
import { invalid } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import { type Api, knownCaller } from './context.ts';

const LARGE_BYTES = 65_536;
/** The number of tenants that may have large bodies in progress at once. */
const LARGE_TENANTS_MAX = 8;

export interface BodyTurns {
  /** Calls `read` at once or in the turn of the body; with an error if the client has disconnected. */
  take(request: FastifyRequest, bytes: number, read: (gone?: Error) => void): void;
  /** The body could not be read, so it will not be processed. */
  giveUp(request: FastifyRequest): void;
}

const clientIsGone = (): Error => invalid('The client closed the connection.');

export function createBodyTurns(app: Api, turns: Turns, bodyBytesMax: number): BodyTurns {
  const held = new WeakMap<FastifyRequest, Release>();
  const large = limiter({ max: LARGE_TENANTS_MAX * bodyBytesMax, perTenantMax: bodyBytesMax });
  const hold = (request: FastifyRequest, socket: Socket, release: Release): void => {
    const leave = (): void => {
      socket.off('close', leave);
      release();
    };
    socket.once('close', leave);
    held.set(request, leave);
  };
  // Not `onResponse`: Fastify would watch the end of every response, which costs a tenth of a small request
  app.addHook('preValidation', (request, reply, done) => {
    const leave = held.get(request);
    if (leave) reply.raw.once('close', leave);
    done();
  });
  return {
    giveUp: (request) => held.get(request)?.(),
    take(request, bytes, read) {
      const tenant = knownCaller(request)?.tenant;
      if (tenant === undefined) return void read();
      const begin = (): void => void turns.take(tenant, () => read());
      if (bytes < LARGE_BYTES) return void begin();
      const { socket } = request.raw;
      void large.acquire(tenant, { weight: Math.min(bytes, bodyBytesMax) }).then((release) => {
        if (socket.destroyed) {
          release();
          read(clientIsGone());
          return;
        }
        hold(request, socket, release);
        begin();
      });
    },
  };
}
