/** Where RabbitMQ is: `amqp://user:password@host:port/virtual-host`, or `amqps://` with TLS. */
import { credentials, type SocketOptions } from 'amqplib';

const HEARTBEAT_S = 10;

export interface RabbitAddress {
  /** host:port, for messages. */
  readonly host: string;
  /** For the driver. */
  readonly url: string;
  readonly login: SocketOptions;
}

/** Throws for what is none. The driver would take some settings of its own, and leave out others without a word. */
export function readAddress(given: string): RabbitAddress {
  const url = new URL(given);
  for (const name of url.searchParams.keys())
    throw new Error(
      `A RabbitMQ address has no settings, as "${name}" would be one. amqps:// asks for TLS and checks the ` +
        'certificate; the file of your CA is named in NODE_EXTRA_CA_CERTS.',
    );
  url.searchParams.set('heartbeat', String(HEARTBEAT_S));
  const { host, href, username, password } = url;
  return { host, url: href, login: loginOf(decodeURIComponent(username), decodeURIComponent(password)) };
}

/** The driver reads what is escaped as Latin-1; without a user it has one of its own. */
const loginOf = (user: string, password: string): SocketOptions =>
  user === '' && password === '' ? {} : { credentials: credentials.plain(user, password) };
