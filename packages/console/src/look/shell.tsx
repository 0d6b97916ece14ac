import type { LucideIcon } from 'lucide-react';
import { Search } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { words } from '../text/words.ts';
import { count } from './format.ts';

export interface Place {
  readonly path: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** What is open there, and waits for this person. */
  readonly open?: number;
  /** Not among the places of a phone. */
  readonly isSeldom?: boolean;
}

interface ShellProps {
  places: readonly Place[];
  path: string;
  /** What is wrong with all pages. */
  banner?: ReactNode;
  onSearch?: () => void;
  /** The person's menu, and whatever belongs to all pages. */
  person: ReactNode;
  children: ReactNode;
}

const isAt = (path: string, place: string): boolean =>
  place === '/' ? path === '/' : path === place || path.startsWith(`${place}/`);

/** The frame of all pages: places, search, person. */
export function Shell({ places, path, banner, onSearch, person, children }: ShellProps) {
  return (
    <div className="shell">
      <a className="button skip" href="#main">
        {words.skip}
      </a>
      <div className="banners">{banner}</div>
      <header className="top">
        <Link href="/" className="brand" aria-label={words.nav.home}>
          <Sign />
          <span>{words.product}</span>
        </Link>
        {onSearch ? (
          <button type="button" className="search" onClick={onSearch}>
            <Search size={16} aria-hidden />
            <span className="cut">{words.search.open}</span>
            <kbd className="key">{words.keys.search}</kbd>
          </button>
        ) : (
          <span />
        )}
        <div className="person">{person}</div>
      </header>
      <nav className="nav" aria-label={words.nav.label}>
        {places.map((place) => (
          <PlaceLink key={place.path} place={place} isHere={isAt(path, place.path)} />
        ))}
      </nav>
      <main id="main" className="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

const PlaceLink = ({
  place: { path, label, icon: Icon, open, isSeldom },
  isHere,
}: {
  place: Place;
  isHere: boolean;
}) => (
  <Link href={path} className={isSeldom ? 'seldom' : ''} aria-current={isHere ? 'page' : undefined}>
    <Icon size={16} aria-hidden />
    <span>{label}</span>
    {open !== undefined && open > 0 && (
      <span className="count">
        {count(open)}
        <span className="hidden"> {words.nav.open(open)}</span>
      </span>
    )}
  </Link>
);

/** The mark of the product. */
export const Sign = () => (
  <svg viewBox="0 0 32 32" width="20" height="20" aria-hidden>
    <rect width="32" height="32" rx="7" />
    <path d="M6 25V9h3v3h14V9h3v16h-3V15h-5v4h-4v-4H9v10z" />
  </svg>
);
