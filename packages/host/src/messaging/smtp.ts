/**
 * Mail over a connection that egress has opened and checked.
 *
 * M1  The connection is encrypted before anything but the greeting is sent, unless the operator allowed plain
 *     text for the server; certificates are always verified, whatever the environment says.
 * M2  A message has the same Message-ID in every attempt: a duplicate, sent because the answer to the first
 *     was lost, can be recognized.
 */
import { isIP } from 'node:net';
import { type Egress, EgressError } from '@gantry/egress';
import type { EgressEnvelope } from '@gantry/surfaces';
import type { Outcome } from '../deliveries/post.ts';
import { textOf } from './message.ts';
import { domainOf, recipientsOf, type Target } from './target.ts';

/** Many servers delay their answers to unknown senders. */
const STEP_TIMEOUT_MS = 10_000;
const ATTEMPT_TIMEOUT_MS = 25_000;
const SUBJECT_LENGTH = 120;

export interface MailServer {
  readonly egress: Pick<Egress, 'connect'>;
  readonly tenant: string;
  readonly target: Extract<Target, { type: 'smtp' }>;
  /** `user:password` */
  readonly login: string | null;
}

/** `left`: recipients that have not received it, if others have. */
export type MailOutcome =
  | (Outcome<'recipient_refused' | 'message_refused'> & { readonly left?: readonly string[] })
  | { readonly kind: 'disconnected'; readonly reason: 'login_refused' };

/** M2. */
export const messageIdOf = (deliveryId: string, { from }: MailServer['target']): string =>
  `<${deliveryId}@${domainOf(from)}>`;

export const sendMail = (server: MailServer, deliveryId: string, envelope: EgressEnvelope) =>
  withTransport(server, (transport) => {
    const { target } = server;
    const { conversationId, threadId, inReplyTo } = envelope.delivery;
    const text = textOf(envelope.content);
    const earlier = [threadId, inReplyTo].filter((id) => id !== undefined);
    return transport.sendMail({
      from: target.from,
      to: recipientsOf(conversationId) ?? [],
      subject: target.subject ?? text.trim().split('\n', 1)[0]!.slice(0, SUBJECT_LENGTH),
      text,
      messageId: messageIdOf(deliveryId, target),
      ...(inReplyTo !== undefined && { inReplyTo }),
      ...(earlier.length > 0 && { references: earlier }),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  });

/** Greets the server, encrypts and logs in. */
export const checkMailServer = (server: MailServer) =>
  withTransport(server, (transport) => transport.verify());

/** The result of nodemailer: a mail counts as sent if at least one recipient was accepted. */
interface Info {
  readonly rejected: readonly string[];
  readonly rejectedErrors?: readonly { readonly responseCode?: number }[];
}

interface Transport {
  sendMail(mail: object): Promise<Info>;
  verify(): Promise<true>;
  close(): void;
}

async function withTransport(
  { egress, tenant, target, login }: MailServer,
  work: (transport: Transport) => Promise<Info | true>,
): Promise<MailOutcome> {
  const { url, tls } = target;
  const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
  try {
    const { socket } = await egress.connect(url, { tenant, signal, plain: tls === 'none' });
    const end = () => socket.destroy();
    signal.addEventListener('abort', end);
    try {
      // Loaded with the first mail, since most hosts do not need it
      const { createTransport } = await import('nodemailer');
      const [, host = ''] = /^smtps?:\/\/(\[[^\]]*\]|[^:/]+)/.exec(url) ?? [];
      const name = host.replace(/^\[|\]$/g, '');
      const colon = login?.indexOf(':') ?? -1;
      const transport = createTransport({
        host: name,
        getSocket: (_, answer) => answer(null, { connection: socket }),
        secure: url.startsWith('smtps:'),
        ...(tls === 'none' ? { ignoreTLS: true } : { requireTLS: true }),
        tls: { servername: isIP(name) ? '' : name, rejectUnauthorized: true, minVersion: 'TLSv1.2' },
        greetingTimeout: STEP_TIMEOUT_MS,
        socketTimeout: STEP_TIMEOUT_MS,
        ...(login !== null && { auth: { user: login.slice(0, colon), pass: login.slice(colon + 1) } }),
      }) as Transport;
      const info = await work(transport);
      transport.close();
      return info === true || info.rejected.length === 0 ? { kind: 'delivered' } : leftOf(info);
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  } catch (error) {
    return signal.aborted ? { kind: 'unreached', reason: 'timeout' } : outcomeOf(error);
  }
}

/** Final if all remaining recipients were refused permanently. */
function leftOf({ rejected: left, rejectedErrors = [] }: Info): MailOutcome {
  const [status] = rejectedErrors.map(({ responseCode = 0 }) => responseCode).filter((code) => code < 500);
  return status === undefined
    ? { kind: 'impossible', reason: 'recipient_refused', left }
    : { kind: 'refused', reason: 'recipient_refused', status, left };
}

/** Converts an error of nodemailer. Replies of 500 and above are final, those below may be temporary. */
function outcomeOf(error: unknown): MailOutcome {
  if (error instanceof EgressError) return { kind: 'unreached', reason: error.reason };
  const { code = '', responseCode: status = 0 } = error as { code?: string; responseCode?: number };
  const isFinal = status >= 500;
  switch (code) {
    case 'EAUTH':
    case 'ENOAUTH':
      return { kind: 'disconnected', reason: 'login_refused' };
    case 'ETLS':
      return { kind: 'unreached', reason: 'tls_failed' };
    case 'EENVELOPE':
      return isFinal
        ? { kind: 'impossible', reason: 'recipient_refused' }
        : { kind: 'refused', reason: 'recipient_refused', status };
    case 'EMESSAGE':
      return isFinal
        ? { kind: 'impossible', reason: 'message_refused' }
        : { kind: 'refused', reason: 'message_refused', status };
    case 'ETIMEDOUT':
      return { kind: 'unreached', reason: 'timeout' };
    default:
      return status > 0
        ? { kind: 'refused', reason: 'smtp_status', status }
        : { kind: 'unreached', reason: 'connect_failed' };
  }
}
