/** Runs only in the converter's process: image decoders often have memory bugs. */
import sharp, { type Metadata, type Sharp } from 'sharp';
import type { Message } from './frame.ts';
import { FORMATS, type Format, type ImageTask, PIXELS_MAX, SIDE_MAX, Unconvertible } from './task.ts';

sharp.cache(false);
sharp.concurrency(1);
/** Other loaders are larger targets: SVG fetches, PDF and others run code. */
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Nsgif'].map((name) => `VipsForeignLoad${name}Buffer`),
});

export async function convertImage(
  task: ImageTask,
  [bytes = new Uint8Array()]: readonly Uint8Array[],
): Promise<Message> {
  const options = { limitInputPixels: PIXELS_MAX, failOn: 'error', pages: 1 } as const;
  const metadata = await sharp(bytes, options).metadata().catch(undecodable);
  // The camera orientation is applied first, so that sides and offsets match the displayed image
  const upright = sharp(bytes, options).autoOrient();
  const image = apply(upright, task, metadata);
  const { data, info } = await image.toBuffer({ resolveWithObject: true }).catch(undecodable);
  const { width, height, format } = info;
  return {
    head: { contentType: `image/${format === 'heif' ? 'avif' : format}`, width, height },
    parts: [data],
  };
}

function apply(image: Sharp, task: ImageTask, metadata: Metadata): Sharp {
  switch (task.op) {
    case 'resize': {
      const { width, height, fit } = task;
      const sides = { ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
      return encoded(image.resize({ ...sides, fit, withoutEnlargement: false }), formatOf(metadata));
    }
    case 'crop': {
      const { x: left, y: top, width, height } = task;
      const sides = metadata.autoOrient;
      if (left + width > sides.width || top + height > sides.height)
        throw new Unconvertible(
          `The image has ${sides.width} by ${sides.height} pixels; the cut is not inside it.`,
        );
      return encoded(image.extract({ left, top, width, height }), formatOf(metadata));
    }
    case 'convert':
      return encoded(fitting(image, metadata), task.to, task.quality);
  }
}

/** Formats have different limits for a side. */
const fitting = (image: Sharp, { width, height }: Metadata): Sharp =>
  Math.max(width, height) > SIDE_MAX
    ? image.resize({ width: SIDE_MAX, height: SIDE_MAX, fit: 'inside' })
    : image;

/** The input format, if it can be written. */
const formatOf = ({ format }: Metadata): Format => {
  const name = String(format) === 'heif' ? 'avif' : String(format);
  return FORMATS.find((each) => each === name) ?? 'png';
};

const encoded = (image: Sharp, format: Format, quality?: number): Sharp =>
  image.toFormat(format, quality === undefined ? {} : { quality });

function undecodable(error: unknown): never {
  const reason = error instanceof Error ? error.message : '';
  if (/pixel limit/i.test(reason))
    throw new Unconvertible(`The image has more than ${PIXELS_MAX} pixels.`, 'file_too_large');
  throw new Unconvertible('The bytes are not a whole JPEG, PNG, WebP, AVIF or GIF image.');
}
