/** Content from outside, marked for a model so that it is not taken for instructions. */

/** The content cannot close its own mark. Linear in its length, spaces too. */
export const markUntrusted = (content: string, attributes = ''): string =>
  `<UNTRUSTED${attributes}>${content.replace(/<((?:\s*\/)?\s*UNTRUSTED)/gi, '&lt;$1')}</UNTRUSTED>`;

export interface Quoted {
  readonly contentTrust?: 'trusted' | 'untrusted' | undefined;
  /** The type of the event or envelope that the content comes from. */
  readonly type: string;
  readonly source?: string | undefined;
}

/** An event as text of a prompt. Trusted content is left as it is: marks everywhere would mean nothing. */
export function quoted(
  content: string,
  { contentTrust = 'trusted', type, source = 'run-event' }: Quoted,
): string {
  if (contentTrust === 'trusted') return content;
  return markUntrusted(content, ` source="${attribute(source)}" type="${attribute(type)}"`);
}

const attribute = (text: string): string => text.replace(/["&<>\r\n]/g, '_').slice(0, 256);
