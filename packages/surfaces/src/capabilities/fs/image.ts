/** `ctx.fs.image`: the work is done by a process of its own. */
import Type, { type Static } from 'typebox';
import type { MethodLiteral } from '../../calls/define-surface.ts';
import { Bytes } from '../../calls/schema.ts';
import type { ReadCall } from '../../calls/surface-call.ts';
import type { Converter } from './convert/converter.ts';
import { type ImageTask, SIDE_MAX } from './convert/task.ts';

const optional = Type.Optional;
const Side = Type.Integer({ minimum: 1, maximum: SIDE_MAX });
const Offset = Type.Integer({ minimum: 0, maximum: 100_000 });
const Fit = Type.Enum(['contain', 'cover', 'fill', 'inside', 'outside']);
const Format = Type.Enum(['jpeg', 'png', 'webp', 'avif']);
const Image = Type.Object({
  bytes: Bytes,
  contentType: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
});
const image = { effect: 'read', needs: 'image', output: Image } as const;

export const IMAGE_METHODS = {
  'image.resize': {
    ...image,
    summary: 'Changes the size. One side follows the other; with both, `fit` says how (`inside`).',
    input: Type.Object({ bytes: Bytes, width: optional(Side), height: optional(Side), fit: optional(Fit) }),
  },
  'image.crop': {
    ...image,
    summary: 'Cuts a rectangle out.',
    input: Type.Object({ bytes: Bytes, x: Offset, y: Offset, width: Side, height: Side }),
  },
  'image.formatConvert': {
    ...image,
    summary: 'Writes the image in another format, with `quality` from 1 to 100 where the format has that.',
    input: Type.Object({
      bytes: Bytes,
      to: Format,
      quality: optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
  },
} as const satisfies Record<string, MethodLiteral>;

export function implementImages(converter: Converter) {
  const convert = async (bytes: Uint8Array, task: ImageTask, call: ReadCall) => {
    const { value, parts } = await converter.run({ kind: 'image', ...task }, [bytes], call);
    return { ...(value as Omit<Static<typeof Image>, 'bytes'>), bytes: parts[0] ?? new Uint8Array() };
  };
  type Input<Name extends keyof typeof IMAGE_METHODS> = Static<(typeof IMAGE_METHODS)[Name]['input']>;
  return {
    'image.resize': ({ bytes, fit = 'inside', ...sides }: Input<'image.resize'>, call: ReadCall) =>
      convert(bytes, { op: 'resize', fit, ...sides }, call),
    'image.crop': ({ bytes, x, y, width, height }: Input<'image.crop'>, call: ReadCall) =>
      convert(bytes, { op: 'crop', x, y, width, height }, call),
    'image.formatConvert': ({ bytes, to, quality }: Input<'image.formatConvert'>, call: ReadCall) =>
      convert(bytes, { op: 'convert', to, ...(quality !== undefined && { quality }) }, call),
  };
}
