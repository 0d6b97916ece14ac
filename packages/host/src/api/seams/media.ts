/** Media as models make them: a run keeps them, and they are deleted with it. */
import { type Api, callerOf } from '@gantry/http';
import { OpenwopError } from '@gantry/protocol';
import { INERT } from '@gantry/surfaces';
import Type from 'typebox';
import type { AskingNode } from '../../ai/ai.ts';
import type { EnvelopeTasks } from '../../ai/conformance-envelope.ts';
import { MEDIA_BYTES_MAX } from '../../ai/media-input.ts';
import type { MediaStore, StoredMedia } from '../../ai/media-store.ts';
import { definition, node, seamId } from './definition.ts';
import type { Drive } from './drive.ts';
import { seamAt } from './seam.ts';

const Put = Type.Object({
  contentBase64: Type.String({ contentEncoding: 'base64', maxLength: (MEDIA_BYTES_MAX / 3) * 4 }),
  contentType: Type.String({ pattern: '^[\\w.+-]+/[\\w.+-]+$', maxLength: 256 }),
});
const Stored = Type.Object({ url: Type.String(), bytes: Type.Integer(), mimeType: Type.String() });
const Named = Type.Object({ mediaId: Type.String({ minLength: 1, maxLength: 256 }) });
const Content = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' });

export function mediaSeams(
  app: Api,
  drive: Drive,
  { tasks, media }: { readonly tasks: EnvelopeTasks; readonly media: MediaStore },
): void {
  app.post(...seamAt('media/put', { body: Put, response: { 201: Stored } }), async (request, reply) => {
    const { contentBase64, contentType: mimeType } = request.body;
    let stored: StoredMedia | undefined;
    const ask = async (asking: AskingNode) => {
      const kept = media.keeping(asking, [{ mimeType, data: Buffer.from(contentBase64, 'base64') }]);
      const result = await asking.tell(kept.events, kept.writes);
      if (result?.won) [stored] = kept.stored;
      return {};
    };
    const keeping = node('keep', 'conformance.envelope', { config: { task: tasks.leave({ ask }) } });
    await drive.atRest(await drive.start(callerOf(request), [definition(seamId('media'), [keeping])]));
    if (!stored) throw new OpenwopError('conflict');
    void reply.code(201);
    return { url: `/v1/host/sample/assets/${stored.id}`, bytes: stored.bytes, mimeType };
  });
  const read = seamAt('GET assets/{mediaId}', { params: Named, response: { 200: Content } });
  app.get(...read, async (request, reply) => {
    const found = await media.read(callerOf(request).tenant, request.params.mediaId);
    if (!found) throw new OpenwopError('not_found');
    return reply.headers({ ...INERT, 'content-type': found.mimeType }).send(found.data);
  });
}
