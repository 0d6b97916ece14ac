/** How many may wait at once, so that no tenant takes from the others what all of them share. */
import { OpenwopError } from '@gantry/protocol';

export interface SeatBounds {
  readonly ofTenant: number;
  readonly inAll: number;
}

export interface Seats {
  /** Throws `queue_backend_unavailable` when none is free. Disposed of by who leaves. */
  take(tenant: string): Disposable;
}

/** `what` they do: `wait for messages`. */
export function seats(what: string, instead: string, { ofTenant, inAll }: SeatBounds): Seats {
  const noSeat = (whose: string): OpenwopError =>
    new OpenwopError('queue_backend_unavailable', {
      message: `${whose} ${what} at once, and no more may. Try again when some have ended, or ${instead}.`,
    });
  const taken = new Map<string, number>();
  let all = 0;
  const change = (tenant: string, by: number): void => {
    all += by;
    const theirs = (taken.get(tenant) ?? 0) + by;
    if (theirs === 0) taken.delete(tenant);
    else taken.set(tenant, theirs);
  };
  return {
    take(tenant) {
      if ((taken.get(tenant) ?? 0) >= ofTenant) throw noSeat(`${ofTenant} calls of this tenant`);
      if (all >= inAll) throw noSeat(`${inAll} calls of all tenants`);
      change(tenant, 1);
      return { [Symbol.dispose]: () => change(tenant, -1) };
    },
  };
}
