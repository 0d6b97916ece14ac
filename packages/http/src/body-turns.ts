/**
 * When the body of a request is read: after its bytes are in, before they are parsed.
 *
 * I1  Tenants take turns on the thread. What is large to read is large to check and to work on: the handler begins in
 *     the turn of its body.
 * I2  Of large bodies one tenant has at most as many bytes at work as one request may bring, until they are answered:
 *     what they write to disk is what others would wait for.
 * I3  A client that goes away while its body waits gives up its request; one that goes away later, its share.
 */
import type { Socket } from 'node:net';
import { limiter, type Release, type Turns } from '@gantry/limiter';
import { invalid } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import { type Api, knownCaller } from './context.ts';

const LARGE_BYTES = 65_536;
/** So many tenants at once have large bodies at work. */
const LARGE_TENANTS_MAX = 8;

export interface BodyTurns {
  /** Calls `read` at once or when the body's turn comes; with an error when the client is gone. */
  take(request: FastifyRequest, bytes: number, read: (gone?: Error) => void): void;
  /** The body could not be read: nothing will be done with it. */
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
  // Not `onResponse`: with such a hook Fastify watches every answer for its end, which costs a tenth of a small request
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
