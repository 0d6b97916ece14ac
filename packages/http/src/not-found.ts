import { OpenwopError } from '@gantry/protocol';
import type { FastifyRequest } from 'fastify';
import type { Routes } from './routes.ts';

/** Why no route took the request: wrong method, unknown path, or a path outside the versioned API. */
export function noRoute(routes: Routes, request: FastifyRequest): OpenwopError {
  const path = request.url.split('?', 1)[0]!;
  const methods = routes.methodsOf(path);
  if (methods.length > 0) {
    return new OpenwopError('method_not_allowed', { headers: { allow: methods.join(', ') } });
  }
  if (path.startsWith('/v1/')) return new OpenwopError('not_found');
  return new OpenwopError('validation_error', {
    message: 'Every operation is under `/v1/`; the host describes itself at `/.well-known/openwop`.',
  });
}
