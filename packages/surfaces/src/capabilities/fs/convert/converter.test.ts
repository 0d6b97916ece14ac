/** Real images and PDF files, and what is sent in their place. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { PDFDocument } from 'pdf-lib';
import sharp from 'sharp';
import { type ConverterLimits, openConverter } from './converter.ts';
import type { ImageTask, PdfTask, Task } from './task.ts';

const converter = openConverter();
const call = { tenant: 'acme', signal: new AbortController().signal };
const ask = (task: Task, ...parts: Uint8Array[]) => converter.run(task, parts, call);
const image = (task: ImageTask, bytes: Uint8Array) => ask({ kind: 'image', ...task }, bytes);
const pdf = (task: PdfTask, ...parts: Uint8Array[]) => ask({ kind: 'pdf', ...task }, ...parts);
const picture = (width: number, height: number, format: 'png' | 'jpeg' | 'webp' | 'gif' = 'png') =>
  sharp({ create: { width, height, channels: 3, background: '#cc3300' } })
    .toFormat(format)
    .toBuffer();

/** A file with one line of text on each page. */
async function document(...lines: string[]): Promise<Uint8Array> {
  const made = await PDFDocument.create();
  for (const line of lines) made.addPage([300, 200]).drawText(line, { x: 20, y: 100, size: 12 });
  return made.save();
}

test('the libraries of this installation load', () => assert.deepEqual(converter.lacks, []));

describe('images', () => {
  test('are resized, cut and converted', async () => {
    const source = await picture(400, 200);
    const { value } = await image({ op: 'resize', fit: 'inside', width: 100, height: 100 }, source);
    assert.deepEqual(value, { contentType: 'image/png', width: 100, height: 50 });
    const cut = await image(
      { op: 'crop', x: 390, y: 0, width: 10, height: 20 },
      await picture(400, 200, 'jpeg'),
    );
    assert.deepEqual(cut.value, { contentType: 'image/jpeg', width: 10, height: 20 });
    for (const to of ['jpeg', 'png', 'webp', 'avif'] as const) {
      const made = await image({ op: 'convert', to, quality: 50 }, await picture(40, 30, 'gif'));
      assert.deepEqual(made.value, { contentType: `image/${to}`, width: 40, height: 30 });
      const again = await image({ op: 'resize', fit: 'inside', width: 20 }, made.parts[0]!);
      assert.deepEqual(again.value, { contentType: `image/${to}`, width: 20, height: 15 });
    }
  });

  test('a cut that is not inside says how large the image is', async () => {
    const cut = image({ op: 'crop', x: 5, y: 0, width: 10, height: 10 }, await picture(10, 10));
    await assert.rejects(cut, { code: 'validation_error', message: /10 by 10/ });
  });

  /** A header that promises many pixels, and almost no data. */
  function bomb(): Buffer {
    const chunk = (type: string, data: Buffer): Buffer => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(data.length);
      head.write(type, 4);
      return Buffer.concat([head, data, Buffer.alloc(4)]);
    };
    const header = Buffer.alloc(13);
    header.writeUInt32BE(60_000, 0);
    header.writeUInt32BE(60_000, 4);
    header.set([8, 2], 8);
    const magic = Buffer.from('89504e470d0a1a0a', 'hex');
    return Buffer.concat([magic, chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.alloc(1_000)))]);
  }

  test('what is no image, or too large a one, is refused', async () => {
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="/etc/passwd"/></svg>',
    );
    const whole = await picture(300, 300, 'jpeg');
    for (const bytes of [
      Buffer.alloc(0),
      randomBytes(2_000),
      svg,
      whole.subarray(0, 400),
      await document('x'),
    ])
      await assert.rejects(image({ op: 'convert', to: 'png' }, bytes), { code: 'validation_error' });
    await assert.rejects(image({ op: 'convert', to: 'png' }, bomb()), {
      code: /file_too_large|validation_error/,
    });
    await assert.rejects(image({ op: 'convert', to: 'png' }, new Uint8Array(7 * 1_048_576)), {
      code: 'file_too_large',
    });
  });
});

describe('PDF files', () => {
  test('give their text, are split and merged', async () => {
    const source = await document('first page', 'second page', 'third page');
    assert.deepEqual((await pdf({ op: 'text' }, source)).value, {
      text: 'first page\nsecond page\nthird page',
      pages: 3,
    });
    const split = await pdf({ op: 'split', ranges: ['2', '2-', '-2'] }, source);
    assert.deepEqual(split.value, [
      { range: '2', pages: 1 },
      { range: '2-', pages: 2 },
      { range: '-2', pages: 2 },
    ]);
    const merged = await pdf({ op: 'merge' }, split.parts[0]!, source);
    assert.deepEqual(merged.value, { pages: 4 });
    const { text } = (await pdf({ op: 'text' }, merged.parts[0]!)).value as { text: string };
    assert.equal(text, 'second page\nfirst page\nsecond page\nthird page');
  });

  test('what is no PDF file, and ranges that are none, are refused', async () => {
    const source = await document('a', 'b');
    for (const ranges of [['3'], ['1', '2-1'], ['-'], ['1,2']])
      await assert.rejects(pdf({ op: 'split', ranges }, source), {
        code: 'validation_error',
        message: /range/,
      });
    for (const bytes of [
      Buffer.alloc(0),
      randomBytes(2_000),
      Buffer.from('%PDF-1.7\n'),
      await picture(5, 5),
    ]) {
      await assert.rejects(pdf({ op: 'text' }, bytes), { code: 'validation_error' });
      await assert.rejects(pdf({ op: 'merge' }, bytes), { code: 'validation_error' });
    }
  });
});

describe('the process', () => {
  test('that takes too long or too much memory is ended, and the next task has another', async () => {
    const source = await picture(3_000, 3_000);
    const slow: Task = { kind: 'image', op: 'convert', to: 'avif' };
    const within = (limits: ConverterLimits) => openConverter(limits).run(slow, [source], call);
    await assert.rejects(within({ wallClockMs: 1, memoryBytes: 1e9 }), /took more than 0.001 seconds/);
    if (process.platform === 'linux')
      await assert.rejects(within({ wallClockMs: 20_000, memoryBytes: 1 }), /exceeded the memory limit/);
    const given = new AbortController();
    const running = converter.run(slow, [source], { ...call, signal: given.signal });
    given.abort(new Error('given up'));
    await assert.rejects(running, /given up/);
    assert.equal((await image({ op: 'resize', fit: 'fill', width: 1, height: 1 }, source)).parts.length, 1);
  });
});
