import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainPng } from '../scripted/png.ts';
import { imageOf } from './image-facts.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

test('type and size are read from the first bytes, and a cut file has no size', () => {
  const sizes = {
    'image/png': plainPng(30, 20, Buffer.from([1, 2, 3])),
    'image/jpeg': bytes('ffd8 ffe0 0004 0000 ffc0 0011 08 0014 001e 03 000000000000000000'),
    'image/webp': Buffer.concat([Buffer.from('RIFF....WEBPVP8X'), bytes('0a000000 00000000 1d0000 130000')]),
  };
  for (const [type, data] of Object.entries(sizes)) {
    const { mimeType, width, height } = imageOf(data);
    assert.deepEqual([mimeType, width, height], [type, 30, 20]);
    assert.equal(imageOf(data.subarray(0, 10)).width, undefined);
  }
});
