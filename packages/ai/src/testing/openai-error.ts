import type { FaultName } from '../scripted/script.ts';
import type { ErrorAnswer } from './dialect.ts';

const failed = (status: number, type: string, code: string | null, message: string, headers = {}) => ({
  status,
  headers,
  body: { error: { message, type, param: null, code } },
});

export function openaiError(fault: FaultName, retryAfterMs: number): ErrorAnswer | undefined {
  switch (fault) {
    case '429-retry-after':
      return failed(429, 'requests', 'rate_limit_exceeded', 'Rate limit reached.', {
        'retry-after-ms': String(retryAfterMs),
        'retry-after': String(Math.ceil(retryAfterMs / 1_000)),
      });
    case 'overloaded':
      return failed(503, 'server_error', null, 'The engine is currently overloaded.');
    case '500':
      return failed(500, 'server_error', null, 'The server had an error.');
    case '401':
      return failed(
        401,
        'invalid_request_error',
        'invalid_api_key',
        'Incorrect API key provided: set-********.',
      );
    case 'unknown-model':
      return failed(404, 'invalid_request_error', 'model_not_found', 'The model `none` does not exist.');
    case 'too-long':
      return failed(
        400,
        'invalid_request_error',
        'context_length_exceeded',
        "This model's maximum context length is 128000 tokens.",
      );
    case '400':
      return failed(400, 'invalid_request_error', 'unsupported_parameter', "Unsupported parameter: 'top_p'.");
    case 'quota':
      return failed(429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.');
    default:
      return undefined;
  }
}
