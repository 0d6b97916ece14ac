/** The receiver of a connector, by its type. Pure. */
import { type ConnectorType, type CreateConnectorRequest, invalid } from '@gantry/protocol';

export type Target =
  | {
      readonly type: 'smtp';
      readonly url: string;
      readonly from: string;
      readonly subject?: string;
      readonly tls?: 'none';
      /** A credential of the kind `basic`. */
      readonly credential?: string;
    }
  /** Its URL is the credential: it suffices for posting. */
  | { readonly type: 'slack'; readonly credential: string }
  | { readonly type: 'http'; readonly url: string; readonly credential?: string };

const MEMBERS = ['url', 'from', 'subject', 'tls', 'credential'] as const;
type Member = (typeof MEMBERS)[number];

const OF_TYPE: Readonly<
  Record<ConnectorType, { readonly needs: readonly Member[]; readonly takes: readonly Member[] }>
> = {
  smtp: { needs: ['url', 'from'], takes: MEMBERS },
  slack: { needs: ['credential'], takes: ['credential'] },
  http: { needs: ['url'], takes: ['url', 'credential'] },
};

export function targetOf(input: CreateConnectorRequest): Target {
  const { type, from = '', tls, credential } = input;
  const { needs, takes } = OF_TYPE[type];
  const given = MEMBERS.filter((name) => input[name] !== undefined);
  const missing = needs.find((name) => !given.includes(name));
  const foreign = given.find((name) => !takes.includes(name));
  if (missing) throw invalid(`A connector of the type ${type} needs \`${missing}\`.`);
  if (foreign) throw invalid(`A connector of the type ${type} does not take \`${foreign}\`. Leave it out.`);
  if (type === 'smtp' && !isAddress(from))
    throw invalid('`from` must be one address, such as ops@example.com or Ops <ops@example.com>.');
  if (tls === 'none' && credential !== undefined)
    throw invalid('The credential would be sent without encryption. Leave out `tls` or `credential`.');
  return { type, ...Object.fromEntries(given.map((name) => [name, input[name]])) } as Target;
}

/** Mail addresses. Stricter than the standards, so that an address cannot add a header or a recipient. */
const PLAIN = /^[^\s@<>,;:"()[\]\\\p{Cc}]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/u;
const NAMED = /^[^<>",\p{Cc}]{1,200} <([^<>]+)>$/u;
const RECIPIENTS_MAX = 50;

/** `ops@example.com` or `Ops <ops@example.com>`. */
const isAddress = (text: string): boolean => PLAIN.test(NAMED.exec(text)?.[1] ?? text);

/** Separated by commas; null if one of them is not a plain address, or there are too many. */
export function recipientsOf(text: string): string[] | null {
  const all = text.split(',').map((each) => each.trim());
  return all.length <= RECIPIENTS_MAX && all.every((each) => PLAIN.test(each)) ? all : null;
}

export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1).replace('>', '');
