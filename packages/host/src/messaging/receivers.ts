/** The receivers of connectors: checks whether messages may be sent to them, and sends them. */
import {
  decideEgress,
  type Egress,
  type EgressCredential,
  type EgressDecision,
  EgressError,
} from '@gantry/egress';
import { type ConnectorCheck, invalid, OpenwopError, type Owner } from '@gantry/protocol';
import type { EgressEnvelope } from '@gantry/surfaces';
import type { Credentials } from '../credentials/credentials.ts';
import { type Outcome, post } from '../deliveries/post.ts';
import { type MessageRecord, textOf } from './message.ts';
import { checkMailServer, type MailOutcome, type MailServer, sendMail } from './smtp.ts';
import type { Target } from './target.ts';

/** Temporary problems: the receiver may be up when there is something to send. */
const PASSING: ReadonlySet<string> = new Set(['resolve_failed', 'timeout']);
/** The receiver will never accept this message. */
const FINAL: ReadonlySet<number> = new Set([400, 410, 413, 415, 422]);
const CHECK_TIMEOUT_MS = 5_000;
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 403]);

export type Sent =
  | MailOutcome
  | Outcome<'message_refused' | 'credential_unavailable'>
  | { readonly kind: 'disconnected'; readonly reason: string };

export interface Judgement {
  readonly problem: string | null;
  /** Null without a credential. */
  readonly decision: EgressDecision | null;
}

export interface ReceiversOptions {
  readonly egress: Pick<Egress, 'request' | 'check' | 'connect' | 'checkMailServer'>;
  readonly credentials: Pick<Credentials, 'open'>;
  readonly now: () => number;
}

interface Opened {
  readonly url: string;
  readonly credential: EgressCredential | null;
  readonly decision: EgressDecision | null;
}

export class Receivers {
  readonly #options: ReceiversOptions;

  constructor(options: ReceiversOptions) {
    this.#options = options;
  }

  /** Without connecting: why messages cannot be sent there, and whether the credential may be sent there. */
  async judge(owner: Owner, target: Target): Promise<Judgement> {
    try {
      const { url, credential, decision } = await this.#open(owner, target);
      if (target.type === 'smtp') loginOf(credential);
      const found = await this.#problemOf(owner, target, url);
      if (found && !PASSING.has(found.reason)) return { problem: found.message, decision };
      return { problem: decision && deniedText(decision, target), decision };
    } catch (error) {
      if (error instanceof OpenwopError) return { problem: error.message, decision: null };
      throw error;
    }
  }

  /** Connects and logs in where that is possible without sending a message. */
  async check(owner: Owner, target: Target): Promise<ConnectorCheck> {
    try {
      const { url, credential, decision } = await this.#open(owner, target);
      const denied = decision && deniedText(decision, target);
      if (denied !== null) return { ok: false, detail: denied };
      if (target.type === 'smtp')
        return mailCheck(url, await checkMailServer(this.#mailServer(owner, target, credential)));
      return await this.#reached(owner, url);
    } catch (error) {
      if (error instanceof EgressError) return { ok: false, detail: error.message };
      if (!(error instanceof OpenwopError)) throw error;
      const next = `gantry credentials add ${target.credential ?? 'REF'}, or rotate it`;
      return { ok: false, detail: error.message, ...(error.code.startsWith('credential_') && { next }) };
    }
  }

  async send(owner: Owner, target: Target, deliveryId: string, { envelope }: MessageRecord): Promise<Sent> {
    if (!envelope) return { kind: 'impossible', reason: 'message_refused' };
    try {
      const { url, credential, decision } = await this.#open(owner, target);
      if (decision && deniedText(decision, target) !== null)
        return { kind: 'disconnected', reason: 'credential_not_allowed' };
      if (target.type === 'smtp')
        return await sendMail(this.#mailServer(owner, target, credential), deliveryId, envelope);
      const sent = await post(this.#options.egress, url, {
        tenant: owner.tenant,
        headers: { 'content-type': 'application/json', 'idempotency-key': deliveryId },
        body: JSON.stringify(target.type === 'slack' ? slackBody(envelope) : { deliveryId, envelope }),
        // The URL of a Slack webhook is its credential; it is sent in no header
        ...(target.type === 'http' && credential && { credential }),
      });
      return judged(sent);
    } catch (error) {
      if (error instanceof OpenwopError) return { kind: 'disconnected', reason: error.code };
      throw error;
    }
  }

  async #open(owner: Owner, target: Target): Promise<Opened> {
    const { credentials, now } = this.#options;
    const credential =
      target.credential === undefined ? null : await credentials.open(owner, target.credential);
    const url = target.type === 'slack' ? (credential?.value ?? '') : target.url;
    const parsed = URL.parse(url);
    if (parsed === null) throw invalid(target.type === 'slack' ? NO_ADDRESS : 'The URL cannot be read.');
    return { url, credential, decision: credential && decideEgress(credential.provenance, parsed, now()) };
  }

  /** Sends HEAD to the root of its server: any answer shows that it is reachable. */
  async #reached({ tenant }: Owner, url: string): Promise<ConnectorCheck> {
    const root = new URL('/', url).href;
    await this.#options.egress.request(root, { method: 'HEAD', tenant, timeoutMs: CHECK_TIMEOUT_MS });
    return { ok: true, detail: `${destination(url)} answers` };
  }

  #problemOf({ tenant }: Owner, target: Target, url: string) {
    const { egress } = this.#options;
    if (target.type !== 'smtp') return egress.check(url, { tenant });
    return egress.checkMailServer(url, { tenant, plain: target.tls === 'none' });
  }

  #mailServer(
    { tenant }: Owner,
    target: MailServer['target'],
    credential: EgressCredential | null,
  ): MailServer {
    return { egress: this.#options.egress, tenant, target, login: loginOf(credential) };
  }
}

function loginOf(credential: EgressCredential | null): string | null {
  if (credential === null) return null;
  const [, encoded] = /^Basic (.+)$/.exec(credential.value) ?? [];
  if (encoded === undefined) throw invalid(NO_LOGIN);
  return Buffer.from(encoded, 'base64').toString();
}

const slackBody = ({ content, delivery: { threadId } }: EgressEnvelope) => ({
  text: textOf(content),
  ...(threadId !== undefined && { thread_ts: threadId }),
});

function judged(sent: Outcome): Sent {
  if (sent.kind === 'unreached' && sent.reason === 'credential_not_allowed')
    return { kind: 'disconnected', reason: sent.reason };
  if (sent.kind !== 'refused') return sent;
  if (UNAUTHORIZED.has(sent.status)) return { kind: 'disconnected', reason: `http_status ${sent.status}` };
  return FINAL.has(sent.status) ? { kind: 'impossible', reason: 'message_refused' } : sent;
}

const NO_ADDRESS =
  'The credential of a slack connector holds the whole address of the incoming webhook, such as https://hooks.slack.com/services/... .';
const NO_LOGIN =
  'The credential of a mail server must be of the kind basic, with user:password as its value.';

/** Never the path: the path of a Slack webhook is secret. */
const destination = (url: string): string => URL.parse(url)?.host ?? '';

/** Null if it may be sent there. */
function deniedText({ decision, destination: host, reason }: EgressDecision, { credential }: Target) {
  if (decision === 'allowed') return null;
  const name = host.replace(/:\d+$/, '');
  return `The credential ${credential} may not be sent to ${host} (${reason}). Add it again with --audience ${name}.`;
}

function mailCheck(url: string, outcome: MailOutcome): ConnectorCheck {
  const host = destination(url);
  if (outcome.kind === 'delivered') return { ok: true, detail: `${host} answers and accepts the login` };
  const next =
    outcome.kind === 'disconnected'
      ? 'gantry credentials rotate, with the right user:password, then gantry connectors reconnect'
      : 'Check the address, the port and that the server offers TLS.';
  return { ok: false, detail: `${host}: ${outcome.reason}`, next };
}
