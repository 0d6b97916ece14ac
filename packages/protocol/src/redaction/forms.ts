/** The forms in which a secret value can occur in text: unchanged, and as common encoders write it. */

/** A shorter value would have false matches. */
const LENGTH_MIN = 8;

export const isRedactable = (value: string): boolean => value.trim().length >= LENGTH_MIN;

/** All forms of the value to search for; none if the value is too short. */
export function formsOf(value: string): readonly string[] {
  // White space around a value in a file is not part of the secret, and may get lost.
  const text = value.trim();
  if (!isRedactable(text)) return [];
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD')].flatMap(encodings))];
}

function encodings(text: string): readonly string[] {
  const bytes = utf8(text);
  const base64 = [0, 1, 2].map((offset) => base64At(bytes, offset));
  const forms = [text, bytes, ...base64, ...base64.map(urlAlphabet), ...hex(bytes)];
  return [...forms, ...jsonForms(text), ...urlForms(text)];
}

/** One character per byte, as a reader of bytes sees it and the encoders expect it. */
const utf8 = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');

/**
 * The number of base64 characters that also contain bits of the text before the value, by its offset in a group of
 * three bytes.
 */
const SHARED_CHARACTERS = [0, 2, 3] as const;

/** The characters that depend only on the value, whatever precedes and follows it. */
function base64At(bytes: string, offset: number): string {
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return btoa('\0'.repeat(offset) + bytes).slice(SHARED_CHARACTERS[offset], whole);
}

const urlAlphabet = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

function hex(bytes: string): string[] {
  const lower = Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return [lower, lower.toUpperCase()];
}

/** Includes the escapes of other languages, JSON as a string within JSON, and names in JSON pointers. */
function jsonForms(text: string): string[] {
  const once = inJson(text);
  const ascii = once.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const pointer = text.replaceAll('~', '~0').replaceAll('/', '~1');
  const slashes = [once, ascii].map((json) => json.replaceAll('/', '\\/'));
  return [once, ascii, ...slashes, inJson(once), pointer, inJson(pointer)];
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** URL components, forms, and the URL encoding of a value in path, query and fragment. */
function urlForms(text: string): string[] {
  const wellFormed = text.toWellFormed();
  const url = new URL('http://h');
  url.pathname = `/${wellFormed}`;
  url.search = wellFormed;
  url.hash = wellFormed;
  const form = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  const forms = [encodeURIComponent(wellFormed), encodeURI(wellFormed), form, url.search.slice(1)];
  forms.push(url.pathname.slice(1), url.hash.slice(1));
  const lower = forms.map((escaped) => escaped.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  // Escapes only lengthen a text: a shorter one is a path whose `..` was resolved, and reveals less than the value.
  return [...forms, ...lower].filter(({ length }) => length >= wellFormed.length);
}
