/**
 * How long the frames of pack processes may hold the event loop, fairly between tenants.
 *
 * I1 In one turn of the loop a tenant has `TENANT_MS`, and all tenants together `TURN_MS`. Frames beyond that stay
 *    unread until a later turn; tenants take turns.
 * I2 A turn ends between two frames, so one large frame can exceed it. Its tenant then rests for `REST_FACTOR` times
 *    the excess: the loop is free for others most of the time, whatever one tenant sends.
 */
const TENANT_MS = 2;
const TURN_MS = 4;
/** A smaller excess is the end of a usual turn on a busy machine. */
const EXCESS_MS = 5;
const REST_FACTOR = 4;
const REST_MS_MAX = 2_000;
/** What a result, log entry or event costs after it was read, on its way into the store; measured. */
export const KEEP_MS_PER_BYTE = 40 / (1024 * 1024);
/** What an answer costs, beyond making it, until it is written. */
export const SEND_MS_PER_BYTE = 2 / (1024 * 1024);

interface Account {
  spentMs: number;
  isResting: boolean;
  readonly waiting: (() => void)[];
}

export class LoopShares {
  /** Of tenants that spent something in this turn, rest or wait; in the order of their turns. */
  readonly #accounts = new Map<string, Account>();
  #spentMs = 0;
  #isTurning = false;

  isFree(tenant: string): boolean {
    const account = this.#accounts.get(tenant);
    if (account && (account.isResting || account.spentMs >= TENANT_MS || account.waiting.length > 0))
      return false;
    return this.#spentMs < TURN_MS;
  }

  spend(tenant: string, ms: number): void {
    this.#account(tenant).spentMs += ms;
    this.#spentMs += ms;
    this.#endTurnLater();
  }

  /** `go` is called in a later turn. */
  wait(tenant: string, go: () => void): void {
    this.#account(tenant).waiting.push(go);
    this.#endTurnLater();
  }

  /** Resolves at once or in a later turn. */
  async turn(tenant: string): Promise<void> {
    if (this.isFree(tenant)) return;
    await new Promise<void>((resolve) => this.wait(tenant, resolve));
  }

  #account(tenant: string): Account {
    const present = this.#accounts.get(tenant);
    if (present) return present;
    const account: Account = { spentMs: 0, isResting: false, waiting: [] };
    this.#accounts.set(tenant, account);
    return account;
  }

  #endTurnLater(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#isTurning = false;
    this.#spentMs = 0;
    for (const [tenant, account] of this.#accounts) this.#settle(tenant, account);
    for (const [tenant, account] of [...this.#accounts]) this.#serve(tenant, account);
  }

  /** I2. */
  #settle(tenant: string, account: Account): void {
    if (account.isResting) return;
    const excessMs = account.spentMs - TENANT_MS;
    account.spentMs = 0;
    if (excessMs > EXCESS_MS) {
      account.isResting = true;
      const rested = (): void => {
        account.isResting = false;
        this.#endTurnLater();
      };
      setTimeout(rested, Math.min(excessMs * REST_FACTOR, REST_MS_MAX)).unref();
    } else if (account.waiting.length === 0) this.#accounts.delete(tenant);
  }

  /** Who was served stands behind the others. */
  #serve(tenant: string, account: Account): void {
    if (account.isResting || account.waiting.length === 0) return;
    if (this.#spentMs < TURN_MS) {
      this.#accounts.delete(tenant);
      this.#accounts.set(tenant, account);
      const waiting = account.waiting.splice(0);
      while (waiting.length > 0 && account.spentMs < TENANT_MS) waiting.shift()?.();
      account.waiting.unshift(...waiting);
    }
    if (account.waiting.length > 0) this.#endTurnLater();
  }
}

export const loopShares = new LoopShares();
