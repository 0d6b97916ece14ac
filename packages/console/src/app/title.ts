import { useEffect } from 'react';
import { words } from '../text/words.ts';

/** The title of the page, from what it is about to where it is. */
export function useTitle(...parts: string[]): void {
  const title = words.title(...parts);
  useEffect(() => {
    document.title = title;
  }, [title]);
}
