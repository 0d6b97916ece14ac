/** Runs in the converter's process only. */
import { PDFDocument } from 'pdf-lib';
import { extractText, getDocumentProxy } from 'unpdf';
import type { Message } from './frame.ts';
import { PAGES_MAX, type PdfTask, TEXT_CHARACTERS_MAX, Unconvertible } from './task.ts';

export async function convertPdf(task: PdfTask, parts: readonly Uint8Array[]): Promise<Message> {
  switch (task.op) {
    case 'text':
      return textOf(parts[0] ?? new Uint8Array());
    case 'split':
      return split(await load(parts[0] ?? new Uint8Array()), task.ranges);
    case 'merge':
      return merge(parts);
  }
}

async function textOf(bytes: Uint8Array): Promise<Message> {
  const document = await getDocumentProxy(bytes).catch(unreadable);
  if (document.numPages > PAGES_MAX) throw tooManyPages();
  const { text, totalPages } = await extractText(document, { mergePages: false }).catch(unreadable);
  return { head: { text: text.join('\n').slice(0, TEXT_CHARACTERS_MAX), pages: totalPages }, parts: [] };
}

async function split(document: PDFDocument, ranges: readonly string[]): Promise<Message> {
  const count = document.getPageCount();
  const made = [];
  for (const range of ranges) {
    const pages = pagesOf(range, count);
    made.push({ range, pages: pages.length, bytes: await copied(document, pages) });
  }
  return { head: made.map(({ range, pages }) => ({ range, pages })), parts: made.map(({ bytes }) => bytes) };
}

/** `3`, `2-5`, `7-` and `-2`, counted from 1. */
function pagesOf(range: string, count: number): number[] {
  const [, from, dash, to] = /^\s*(\d{0,6})\s*(-?)\s*(\d{0,6})\s*$/.exec(range) ?? [];
  const first = from ? Number(from) : 1;
  const last = to ? Number(to) : dash ? count : first;
  if ((!from && !to) || first < 1 || last > count || first > last)
    throw new Unconvertible(
      `The range ${JSON.stringify(range)} names no pages of a file with ${count}. Write 3, 2-5, 7- or -2.`,
    );
  return Array.from({ length: last - first + 1 }, (_, index) => first - 1 + index);
}

async function copied(source: PDFDocument, pages: number[]): Promise<Uint8Array> {
  const target = await PDFDocument.create();
  for (const page of await target.copyPages(source, pages)) target.addPage(page);
  return target.save();
}

async function merge(parts: readonly Uint8Array[]): Promise<Message> {
  const target = await PDFDocument.create();
  for (const part of parts) {
    const source = await load(part);
    for (const page of await target.copyPages(source, source.getPageIndices())) target.addPage(page);
    if (target.getPageCount() > PAGES_MAX) throw tooManyPages();
  }
  return { head: { pages: target.getPageCount() }, parts: [await target.save()] };
}

async function load(bytes: Uint8Array): Promise<PDFDocument> {
  const document = await PDFDocument.load(bytes, { updateMetadata: false }).catch(unreadable);
  if (document.getPageCount() > PAGES_MAX) throw tooManyPages();
  return document;
}

const tooManyPages = (): Unconvertible =>
  new Unconvertible(`The file has more than ${PAGES_MAX} pages.`, 'file_too_large');

function unreadable(): never {
  throw new Unconvertible('The bytes are not a PDF file that can be read without a password.');
}
