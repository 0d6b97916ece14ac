import type { Json } from '@gantry/protocol';
import { ChevronRight } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { words } from '../text/words.ts';
import { isMasked, membersOf } from './json-value.ts';

const OPEN_DEPTH = 2;
const SHOWN_MAX = 100;

/** A value as a tree. Moves like the trees of the system: arrows, Home, End; Enter opens and closes. */
export function JsonTree({ value, label = words.json.label }: { value: Json; label?: string }) {
  const tree = useRef<HTMLUListElement>(null);
  const move = (event: KeyboardEvent): void => {
    const items = [...(tree.current?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = targetOf(event.key, items, at);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div className="json">
      <ul ref={tree} role="tree" aria-label={label} onKeyDown={move}>
        <Node value={value} depth={0} isFirst />
      </ul>
    </div>
  );
}

/** Left and right open and close first; this is what they do when there is nothing to open or close. */
function targetOf(key: string, items: readonly HTMLElement[], at: number): HTMLElement | undefined {
  if (key === 'ArrowDown') return items[at + 1];
  if (key === 'ArrowUp') return items[at - 1];
  if (key === 'Home') return items[0];
  if (key === 'End') return items.at(-1);
  if (key === 'ArrowRight') return items[at]?.querySelector<HTMLElement>('[role=treeitem]') ?? undefined;
  if (key === 'ArrowLeft')
    return items[at]?.parentElement?.closest<HTMLElement>('[role=treeitem]') ?? undefined;
  return undefined;
}

interface NodeProps {
  name?: string;
  value: Json;
  depth: number;
  isFirst?: boolean;
}

function Node({ name, value, depth, isFirst }: NodeProps) {
  const members = membersOf(value);
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(SHOWN_MAX);
  const canOpen = members !== undefined && members.length > 0;
  const press = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || !canOpen) return;
    const isToggle = event.key === 'Enter' || event.key === ' ';
    if (!isToggle && !(event.key === 'ArrowRight' && !isOpen) && !(event.key === 'ArrowLeft' && isOpen))
      return;
    event.preventDefault();
    event.stopPropagation();
    setOpen(!isOpen);
  };
  return (
    <li
      role="treeitem"
      tabIndex={isFirst ? 0 : -1}
      aria-expanded={canOpen ? isOpen : undefined}
      onKeyDown={press}
    >
      <div className={canOpen ? 'line opens' : 'line'} onClick={() => canOpen && setOpen(!isOpen)}>
        {canOpen && <ChevronRight size={10} aria-hidden />}
        {name !== undefined && <span className="name">{name}:</span>}
        <Leaf value={value} isOpen={canOpen && isOpen} size={members?.length} />
      </div>
      {canOpen && isOpen && (
        <ul role="group">
          {members.slice(0, shown).map(([each, member]) => (
            <Node key={each} name={each} value={member} depth={depth + 1} />
          ))}
          {members.length > shown && (
            <li
              role="treeitem"
              tabIndex={-1}
              onKeyDown={(event) => event.key === 'Enter' && setShown(shown * 10)}
            >
              <div className="line opens quiet" onClick={() => setShown(shown * 10)}>
                {words.json.more(members.length - shown)}
              </div>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Leaf({ value, isOpen, size }: { value: Json; isOpen: boolean; size: number | undefined }) {
  if (size !== undefined) {
    if (isOpen) return <span className="quiet">{Array.isArray(value) ? '[' : '{'}</span>;
    const [start, end] = Array.isArray(value) ? '[]' : '{}';
    const text = Array.isArray(value) ? words.json.items(size) : words.json.members(size);
    return <span className="quiet">{size === 0 ? `${start}${end}` : `${start} ${text} ${end}`}</span>;
  }
  if (isMasked(value)) return <span className="masked">{words.json.masked}</span>;
  return <span className={typeof value === 'string' ? 'text' : 'other'}>{JSON.stringify(value)}</span>;
}
