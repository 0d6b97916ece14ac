import type * as Undici from 'undici';
import { assertMayCarry, type CarriedCredential, type CredentialTerms } from './carried-credential.ts';
import { connect } from './connect.ts';
import type { EgressResponse } from './egress.ts';
import { EgressError, egressError } from './error.ts';
import { type Answer, exchange } from './exchange.ts';
import type { Interruption } from './interruption.ts';
import type { KeptLines } from './kept-lines.ts';
import { GONE, Line } from './line.ts';
import type { Outgoing } from './outgoing.ts';
import { follow, redirectOf } from './redirect.ts';
import { type ResolveOptions, resolve } from './resolve.ts';
import type { Judgement, Target } from './target.ts';

export interface Guard extends ResolveOptions, Interruption, Pick<CredentialTerms, 'inspect' | 'onDecision'> {
  readonly credential: CarriedCredential | undefined;
  readonly lines: KeptLines;
  readonly bytesMax: number;
  readonly redirectsMax: number;
  readonly sensitiveHeaders: readonly string[];
  readonly onSend: (() => void) | undefined;
  judge(url: string): Judgement<Target>;
}

export function allowed<T>(judgement: Judgement<T>): T {
  if (!judgement.allowed) throw new EgressError(judgement.problem);
  return judgement.target;
}

/** Loaded with the first request, so a host that sends none does not load it. */
let loading: Promise<typeof Undici> | undefined;
const loadUndici = (): Promise<typeof Undici> => (loading ??= import('undici'));

/** RFC 9110, 9.2.2: methods that may be repeated if a kept connection breaks without an answer. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** A response with any form of body. */
interface Answered<Body> extends Omit<EgressResponse, 'body'> {
  readonly body: Body;
}

/** One request with its redirects. Each hop is checked, resolved and pinned separately. */
export class GuardedRequest<Body> {
  readonly #guard: Guard;
  readonly #take: (answer: Answer) => Promise<Body>;
  #sent = false;

  constructor(guard: Guard, take: (answer: Answer) => Promise<Body>) {
    this.#guard = guard;
    this.#take = take;
  }

  async send(url: string, first: Outgoing): Promise<Answered<Body>> {
    try {
      return await this.#hop(url, first, 0);
    } catch (error) {
      throw this.#sent && error instanceof EgressError ? error.afterSending() : error;
    }
  }

  async #hop(url: string, message: Outgoing, followed: number): Promise<Answered<Body>> {
    const { credential, redirectsMax, sensitiveHeaders } = this.#guard;
    if (this.#guard.judge(url).allowed) await assertMayCarry(this.#guard, url, message);
    const { target, addresses } = await (credential?.guarding(url, () => this.#find(url)) ?? this.#find(url));
    const sent = credential ? await credential.attach(target.url, message) : message;
    const answer = await this.#exchange(target, addresses, sent);
    const redirect = redirectsMax > 0 ? redirectOf(answer.head) : undefined;
    if (!redirect) return this.#answered(answer, target, followed > 0);
    answer.close();
    if (followed === redirectsMax)
      throw egressError('too_many_redirects', `The server redirects more than ${followed} times.`);
    const next = follow(target.url, message, redirect, sensitiveHeaders);
    if (!next.allowed) throw new EgressError(next.problem);
    return this.#hop(next.url, next.outgoing, followed + 1);
  }

  async #answered(answer: Answer, { url }: Target, redirected: boolean): Promise<Answered<Body>> {
    const { head, address } = answer;
    return {
      status: head.status,
      /** Parsed on first use. */
      get headers() {
        return head.headers;
      },
      body: await this.#take(answer),
      address,
      url: url.href,
      redirected,
    };
  }

  async #find(url: string): Promise<{ target: Target; addresses: readonly string[] }> {
    const target = allowed(this.#guard.judge(url));
    return { target, addresses: await resolve(target, this.#guard) };
  }

  async #exchange(target: Target, addresses: readonly string[], message: Outgoing): Promise<Answer> {
    const { lines, tenant, signal, silence, bytesMax, onSend } = this.#guard;
    const undici = await loadUndici();
    const key = `${tenant} ${target.url.origin}`;
    const ended = (line: Line, isWhole: boolean): void => {
      if (isWhole) lines.keep(key, line);
    };
    const terms = { signal, silence, bytesMax, ended };
    const over = (line: Line) => {
      onSend?.();
      return exchange(undici, line, target, message, terms);
    };
    const kept = lines.take(key, addresses);
    if (kept) {
      try {
        return await over(kept);
      } catch (error) {
        this.#sent ||= !(error instanceof EgressError && error.code === GONE);
        if (!this.#mayRepeat(error, message)) throw error;
      }
    }
    const line = new Line(undici, target.url.origin, await connect(target, { addresses, signal }));
    this.#sent = true;
    return over(lines.watch(line));
  }

  /** The server may have closed the kept connection just when the request was sent. */
  #mayRepeat(error: unknown, { method }: Outgoing): boolean {
    if (!(error instanceof EgressError) || error.reason !== 'connect_failed') return false;
    return error.code === GONE || REPEATABLE.has(method);
  }
}
