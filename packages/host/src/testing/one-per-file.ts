/** What the tests of a file share. It is closed when those of another file in this process open theirs, or at the end. */
import { after } from 'node:test';

type Close = () => unknown;

/** The part of a test's context that openers use. */
export interface Lifetime {
  after(close: Close): void;
}

let closeLast: Close = () => {};
after(() => closeLast());

/** For one call in a file: a second would close what the first opened. */
export function onePerFile<T>(open: (t: Lifetime) => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  const begin = async (): Promise<T> => {
    await closeLast();
    const closes: Close[] = [];
    closeLast = async () => {
      opened = undefined;
      for (const close of closes.toReversed()) await close();
    };
    return open({ after: (close) => void closes.push(close) });
  };
  return () => {
    opened ??= begin();
    return opened;
  };
}
