import { MapPinOff } from 'lucide-react';
import { Link } from 'wouter';
import { Empty } from '../look/notice.tsx';
import { words } from '../text/words.ts';
import { useTitle } from './title.ts';

/** An address without a page. */
export function Missing() {
  useTitle(words.start.missing);
  return (
    <Empty icon={MapPinOff} text={words.start.missing}>
      <Link href="/" className="button">
        {words.start.back}
      </Link>
    </Empty>
  );
}
