/** A server that went silent would otherwise keep its callers for ever. */
import { inTime } from '../deadline.ts';

export class Unanswered extends Error {
  constructor() {
    super('RabbitMQ did not answer');
  }
}

export const answered = <T>(ms: number, work: Promise<T>): Promise<T> =>
  inTime(ms, work, () => new Unanswered());
