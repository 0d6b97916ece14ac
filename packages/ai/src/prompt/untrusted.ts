/** Marks external content for a model, so that it is not read as instructions. */

/** The content cannot close its own mark. Takes linear time, also for runs of spaces. */
export const markUntrusted = (content: string, attributes = ''): string =>
  `<UNTRUSTED${attributes}>${content.replace(/<((?:\s*\/)?\s*UNTRUSTED)/gi, '&lt;$1')}</UNTRUSTED>`;

export interface Quoted {
  readonly contentTrust?: 'trusted' | 'untrusted' | undefined;
  /** The type of the source event or envelope. */
  readonly type: string;
  readonly source?: string | undefined;
  /** Other attributes of the mark, such as the tool. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** An event as text of a prompt. Trusted content is not marked: marks everywhere would be meaningless. */
export function quoted(
  content: string,
  { contentTrust = 'trusted', type, source = 'run-event', attributes = {} }: Quoted,
): string {
  if (contentTrust === 'trusted') return content;
  const named = Object.entries({ source, type, ...attributes }).filter(([name]) => NAME.test(name));
  return markUntrusted(content, named.map(([name, value]) => ` ${name}="${attribute(value)}"`).join(''));
}

const NAME = /^[a-z][a-z-]{0,63}$/;
const attribute = (text: string): string => text.replace(/["&<>\r\n]/g, '_').slice(0, 256);
