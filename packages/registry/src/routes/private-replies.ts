import { type Api, knownCaller } from '@gantry/http';

/** Whatever the routes of `app` answer: what a key shows stays out of shared caches and of pages from elsewhere. */
export function guardPrivateReplies(app: Api): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const varies = reply.getHeader('vary');
    void reply.header('vary', varies === undefined ? 'Authorization' : `${varies}, Authorization`);
    if (knownCaller(request) !== null)
      void reply
        .removeHeader('access-control-allow-origin')
        .removeHeader('access-control-expose-headers')
        .header('cache-control', 'private, no-cache');
    done(null, payload);
  });
}
