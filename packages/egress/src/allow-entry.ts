/**
 * Entries of `GANTRY_EGRESS_ALLOW`: `purpose[@tenant]=scheme://host[:port]`.
 *
 * A1 The host is a name, an address or a range (`10.0.0.0/8`, `[fd00::/8]`).
 * A2 A name opens the public, private and loopback addresses that it resolves to.
 * A3 A range opens the addresses inside it, also for names that resolve to them. Link-local, metadata and reserved
 *    addresses must be given exactly.
 * A4 Without a port, it is the default port of the scheme; `*` is every port except those of other protocols.
 * A5 An address opens URLs that contain it, not names that resolve to it: those may be anybody's.
 * A6 `smtps` and `smtp` are for mail servers of connectors.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { type AddressKind, canonicalAddress, classifyAddress } from './address.ts';
import { classifyHostName, plainHostName } from './host-name.ts';
import { DEFAULT_TENANT, type EgressPurpose, PURPOSES } from './policy.ts';

export type Scheme = 'https' | 'http' | 'smtps' | 'smtp';

export interface AllowEntry {
  readonly purpose: EgressPurpose;
  /** Undefined for addresses from the settings, which hold for all tenants. */
  readonly tenant: string | undefined;
  readonly scheme: Scheme;
  readonly host:
    | { readonly kind: 'name'; readonly name: string }
    /** `exact` is set for a range of one address. */
    | { readonly kind: 'range'; readonly list: BlockList; readonly exact: string | undefined };
  readonly port: number | '*';
}

const FORM = /^([^@=]+)(?:@([^=]*))?=([^:]*):\/\/(\[[^\]]*\]|[^:[\]]*)(?::(.*))?$/;
const EXAMPLE = 'webhook=https://hooks.corp.example:8443 or raw-fetch@acme=https://10.20.0.0/16';
export const USUAL_PORT: Readonly<Record<Scheme, number>> = { https: 443, http: 80, smtps: 465, smtp: 587 };
/**
 * Ports of other protocols: they can read an HTTP request as commands. These are the blocked ports of the Fetch
 * standard, and databases that accept plain text.
 */
const OTHER_PROTOCOLS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211,
]);

const SCHEMES = Object.keys(USUAL_PORT) as Scheme[];
const ORDINARY: ReadonlySet<AddressKind> = new Set(['public', 'private', 'loopback']);

/** Parses entries separated by commas. Throws for an invalid one, with what is wrong with it. */
export function readAllowList(list = ''): AllowEntry[] {
  const entries = list.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '').map(readEntry);
}

function readEntry(text: string): AllowEntry {
  const [, purpose = '', tenant, scheme = '', host = '', port] =
    FORM.exec(text) ?? wrong(text, `an entry has the form of ${EXAMPLE}`);
  if (tenant === '') wrong(text, 'the tenant after @ is missing');
  return {
    purpose: purposeIn(text, purpose),
    tenant: tenant ?? DEFAULT_TENANT,
    scheme: schemeIn(text, scheme, purpose),
    host: hostIn(text, host),
    port: portIn(text, port, schemeIn(text, scheme, purpose)),
  };
}

/** An entry for the origin of an address from the settings, for all tenants. */
export function entryOf(address: string, purpose: EgressPurpose): AllowEntry {
  const { protocol, hostname, port } = new URL(address);
  const text = `${purpose}=${protocol}//${hostname}${port && `:${port}`}`;
  return { ...readEntry(text), tenant: undefined };
}

function wrong(text: string, why: string): never {
  throw new Error(`GANTRY_EGRESS_ALLOW: in "${text}", ${why}.`);
}

const purposeIn = (text: string, given: string): EgressPurpose =>
  PURPOSES.find((purpose) => purpose === given) ??
  wrong(text, `"${given}" is not a purpose; use one of ${PURPOSES.join(', ')}`);

function schemeIn(text: string, given: string, purpose: string): Scheme {
  // Mail servers are only called for connectors
  const known = SCHEMES.filter((scheme) => purpose === 'connector' || !scheme.startsWith('smtp'));
  const isList = known.length > 2 ? ` or ${known.slice(2).join(' or ')}` : '';
  const scheme = known.find((each) => each === given);
  return scheme ?? wrong(text, `"${given}" is not a scheme; use https or http${isList}`);
}

function portIn(text: string, given: string | undefined, scheme: Scheme): number | '*' {
  if (given === undefined) return USUAL_PORT[scheme];
  if (given === '*') return given;
  const port = /^\d{1,5}$/.test(given) ? Number(given) : 0;
  if (port > 0 && port < 65_536) return port;
  return wrong(text, `"${given}" is not a port; use 1 to 65535 or *, and leave out paths`);
}

function hostIn(text: string, given: string): AllowEntry['host'] {
  const host = given.startsWith('[') ? given.slice(1, -1) : given;
  const [address = '', prefix, more] = host.split('/');
  if (isIP(address) && more === undefined) return rangeIn(text, address, prefix);
  const parsed = given === host && prefix === undefined ? URL.parse(`http://${host}`) : null;
  const name = parsed === null ? undefined : plainHostName(parsed.hostname);
  if (name === undefined || isIP(name))
    return wrong(text, `"${given}" is not a name, an address or a range such as 10.0.0.0/8 or [fd00::/8]`);
  if (classifyHostName(name) === 'metadata')
    return wrong(text, `"${given}" is a metadata service, which is allowed only by its exact address`);
  return { kind: 'name', name };
}

function rangeIn(text: string, address: string, given: string | undefined): AllowEntry['host'] {
  const bits = isIPv4(address) ? 32 : 128;
  const prefix = given === undefined ? bits : /^\d{1,3}$/.test(given) ? Number(given) : bits + 1;
  if (prefix > bits) return wrong(text, `"/${given}" is not a prefix length; use 0 to ${bits}`);
  if (prefix < bits && prefix >= 8 && !isOrdinary(address))
    return wrong(
      text,
      'link-local, metadata and reserved addresses are allowed only one by one, by exact address',
    );
  const list = new BlockList();
  list.addSubnet(address, prefix, isIPv4(address) ? 'ipv4' : 'ipv6');
  return { kind: 'range', list, exact: prefix === bits ? canonicalAddress(address) : undefined };
}

export const isOrdinary = (address: string): boolean => ORDINARY.has(classifyAddress(address).kind);

export const isOfOtherProtocol = (port: number): boolean => OTHER_PROTOCOLS.has(port);

export const opensPort = ({ port: open }: AllowEntry, port: number): boolean =>
  open === '*' ? !isOfOtherProtocol(port) : open === port;

export const opensName = ({ host: open }: AllowEntry, host: string): boolean =>
  open.kind === 'name' && open.name === host;

/** A2, A3, A5. Whether the entry opens this address of the host. */
export function opensAddress(entry: AllowEntry, host: string, address: string): boolean {
  const { host: open } = entry;
  if (open.kind === 'name') return opensName(entry, host) && isOrdinary(address);
  const isCandidate = open.exact === undefined ? isOrdinary(address) : isIP(host) !== 0;
  return isCandidate && open.list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** Whether the entry may open addresses of names that it does not contain. */
export const opensUnnamed = ({ host }: AllowEntry): boolean =>
  host.kind === 'range' && host.exact === undefined;
