/** One attempt over HTTP. */
import { type Egress, EgressError, type EgressReason, type EgressRequest } from '@gantry/egress';

const TIMEOUT_MS = 5_000;
/** Only the status of the answer is kept. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** `reason` is shown to callers: it never contains text of the receiver. */
export type Outcome<Impossible extends string = never> =
  | { readonly kind: 'delivered'; readonly status?: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly status: number }
  | { readonly kind: 'unreached'; readonly reason: EgressReason }
  /** Nothing was sent, and a retry cannot succeed. */
  | { readonly kind: 'impossible'; readonly reason: Impossible };

export async function post(
  egress: Pick<Egress, 'request'>,
  url: string,
  request: Required<Pick<EgressRequest, 'headers' | 'body' | 'tenant'>> & Pick<EgressRequest, 'credential'>,
): Promise<Outcome> {
  try {
    const { status } = await egress.request(url, {
      ...request,
      method: 'POST',
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES_MAX,
      redirects: 0,
    });
    const isDelivered = status >= 200 && status < 300;
    return isDelivered ? { kind: 'delivered', status } : { kind: 'refused', reason: 'http_status', status };
  } catch (error) {
    if (error instanceof EgressError) return { kind: 'unreached', reason: error.reason };
    throw error;
  }
}
