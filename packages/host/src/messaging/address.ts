/** Mail addresses. Stricter than the standards: what passes here cannot add a header or a recipient. Pure. */

const PLAIN = /^[^\s@<>,;:"()[\]\\\p{Cc}]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u;
const NAMED = /^[^<>",\p{Cc}]{1,200} <([^<>]+)>$/u;
const RECIPIENTS_MAX = 50;

/** `ops@example.com` or `Ops <ops@example.com>`. */
export const isAddress = (text: string): boolean => PLAIN.test(NAMED.exec(text)?.[1] ?? text);

/** Separated by commas; null when one of them is not a plain address, or there are too many. */
export function recipientsOf(text: string): string[] | null {
  const all = text.split(',').map((each) => each.trim());
  return all.length <= RECIPIENTS_MAX && all.every((each) => PLAIN.test(each)) ? all : null;
}

export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1).replace('>', '');
