import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { words } from '../text/words.ts';
import { Button } from './button.tsx';
import { useLook } from './clock.ts';
import { count } from './format.ts';
import { useMedia } from './media.ts';
import { look } from './preferences.ts';

export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  /** A track of a CSS grid. */
  readonly width: string;
  readonly kind?: 'number' | 'strong';
  /** Where it is on a phone; columns without a place are left out there. */
  readonly place?: 'title' | 'text' | 'end';
  readonly cell: (row: Row) => ReactNode;
}

export interface VirtualTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  nameOf: (row: Row) => string;
  onOpen: (row: Row) => void;
  /** Rows can be picked where this is given. */
  picked?: ReadonlySet<string>;
  onPick?: (keys: ReadonlySet<string>) => void;
  /** How many rows came that are not shown yet: nothing moves under the hand. */
  fresh?: number;
  onFresh?: () => void;
  isLoading?: boolean;
}

const NARROW = '(max-width: 640px)';
const COARSE = '(pointer: coarse)';
const NARROW_HEIGHT = 60;
const SKELETONS = 12;
const OVERSCAN = 12;

function useRowHeight(isNarrow: boolean): number {
  const { density } = useLook();
  const isCoarse = useMedia(COARSE);
  if (isNarrow) return NARROW_HEIGHT;
  if (isCoarse) return 44;
  return density === 'compact' ? 32 : 40;
}

/** A long list of which only those rows exist that are seen. One row at a time is in the order of the keyboard. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const isNarrow = useMedia(NARROW);
  const height = useRowHeight(isNarrow);
  return <Grid key={height} props={props} isNarrow={isNarrow} height={height} />;
}

interface GridProps<Row> {
  props: VirtualTableProps<Row>;
  isNarrow: boolean;
  height: number;
}

function Grid<Row>({ props, isNarrow, height }: GridProps<Row>) {
  const { label, columns, rows, keyOf, picked, onPick, fresh = 0, onFresh, isLoading } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const virtual = useVirtualizer({
    count: isLoading ? SKELETONS : rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
  });
  const shown = isNarrow ? columns.filter(({ place }) => place !== undefined) : columns;
  const tracks = [...(onPick ? ['16px'] : []), ...shown.map(({ width }) => width)].join(' ');
  const wanted = useRef<number>(undefined);
  const focusRow = (at: number): void => {
    wanted.current = Math.min(rows.length - 1, Math.max(0, at));
    setActive(wanted.current);
    virtual.scrollToIndex(wanted.current);
  };
  // A row far away is there only after the list has scrolled, which renders again
  useEffect(() => {
    if (wanted.current === undefined) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[aria-rowindex="${wanted.current + 2}"]`);
    if (!row) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  return (
    <div className="grid-frame">
      <div
        ref={scroller}
        role="grid"
        className={`grid ${isNarrow ? 'narrow' : ''} ${picked?.size ? 'picking' : ''}`}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        aria-busy={isLoading || undefined}
        tabIndex={isLoading || rows.length === 0 ? 0 : undefined}
        onKeyDown={(event) => pressed(event, props, active, focusRow)}
      >
        <Head props={props} columns={shown} tracks={tracks} />
        <div role="rowgroup" className="grid-rows" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = isLoading ? undefined : rows[index];
            const frame = { top: start, height, ...(!isNarrow && { gridTemplateColumns: tracks }) };
            if (row === undefined)
              return <Waiting key={index} columns={shown} style={frame} hasPick={!!onPick} />;
            return (
              <TableRow
                key={keyOf(row)}
                row={row}
                props={props}
                columns={shown}
                isNarrow={isNarrow}
                isActive={index === active}
                onActive={() => setActive(index)}
                index={index}
                style={frame}
              />
            );
          })}
        </div>
      </div>
      {fresh > 0 && (
        <Button kind="primary" slim className="fresh" onClick={onFresh}>
          {words.table.fresh(count(fresh))}
        </Button>
      )}
    </div>
  );
}

interface HeadProps<Row> {
  props: VirtualTableProps<Row>;
  columns: readonly Column<Row>[];
  tracks: string;
}

function Head<Row>({ props: { rows, keyOf, picked, onPick }, columns, tracks }: HeadProps<Row>) {
  const allPicked = rows.length > 0 && picked?.size === rows.length;
  return (
    <div role="row" className="grid-head" aria-rowindex={1} style={{ gridTemplateColumns: tracks }}>
      {onPick && (
        <span role="columnheader" className="grid-cell pick">
          <input
            type="checkbox"
            className="box"
            aria-label={words.table.pickAll}
            checked={allPicked}
            ref={(box) => {
              if (box) box.indeterminate = !allPicked && (picked?.size ?? 0) > 0;
            }}
            onChange={() => onPick(new Set(allPicked ? [] : rows.map(keyOf)))}
          />
        </span>
      )}
      {columns.map(({ key, head, kind }) => (
        <span key={key} role="columnheader" className={`grid-cell ${kind === 'number' ? 'number' : ''}`}>
          {head}
        </span>
      ))}
    </div>
  );
}

function toggled(keys: ReadonlySet<string>, key: string): Set<string> {
  const next = new Set(keys);
  if (!next.delete(key)) next.add(key);
  return next;
}

/** The keys of a row: arrows and `j` `k` move, `x` or Space picks, Enter opens. */
function pressed<Row>(
  event: KeyboardEvent,
  { rows, keyOf, onOpen, picked, onPick }: VirtualTableProps<Row>,
  active: number,
  focusRow: (at: number) => void,
): void {
  const target = event.target as HTMLElement;
  if (target.getAttribute('role') !== 'row' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.length === 1 && event.key !== ' ' && look().keys === 'off') return;
  const row = rows[active];
  const moves: Record<string, number> = {
    ArrowDown: active + 1,
    j: active + 1,
    ArrowUp: active - 1,
    k: active - 1,
    Home: 0,
    End: rows.length - 1,
    PageDown: active + 10,
    PageUp: active - 10,
  };
  const to = moves[event.key];
  if (to !== undefined) focusRow(to);
  else if (event.key === 'Enter' && row !== undefined) onOpen(row);
  else if ((event.key === 'x' || event.key === ' ') && row !== undefined && picked && onPick)
    onPick(toggled(picked, keyOf(row)));
  else return;
  event.preventDefault();
}

interface Frame {
  top: number;
  height: number;
  gridTemplateColumns?: string;
}

interface TableRowProps<Row> {
  row: Row;
  props: VirtualTableProps<Row>;
  columns: readonly Column<Row>[];
  isNarrow: boolean;
  isActive: boolean;
  onActive: () => void;
  index: number;
  style: Frame;
}

function TableRow<Row>(options: TableRowProps<Row>) {
  const { row, props, columns, isNarrow, isActive, onActive, index, style } = options;
  const { keyOf, nameOf, onOpen, picked, onPick } = props;
  const key = keyOf(row);
  return (
    <div
      role="row"
      className="grid-row"
      aria-rowindex={index + 2}
      aria-selected={picked?.has(key) ?? false}
      tabIndex={isActive ? 0 : -1}
      style={style}
      onFocus={onActive}
      onClick={() => onOpen(row)}
    >
      {onPick && picked && (
        <span role="gridcell" className="grid-cell pick" style={isNarrow ? { gridArea: 'pick' } : {}}>
          <input
            type="checkbox"
            className="box"
            tabIndex={-1}
            aria-label={words.table.pick(nameOf(row))}
            checked={picked.has(key)}
            onClick={(event) => event.stopPropagation()}
            onChange={() => onPick(toggled(picked, key))}
          />
        </span>
      )}
      {columns.map((column) => (
        <span
          key={column.key}
          role="gridcell"
          className={`grid-cell ${column.kind ?? ''}`}
          style={isNarrow ? { gridArea: column.place } : {}}
          onMouseEnter={({ currentTarget: cell }) => {
            cell.title = cell.scrollWidth > cell.clientWidth ? (cell.textContent ?? '') : '';
          }}
        >
          {column.cell(row)}
        </span>
      ))}
    </div>
  );
}

/** A row that is being fetched, of the size that it will have. */
function Waiting<Row>({
  columns,
  style,
  hasPick,
}: {
  columns: readonly Column<Row>[];
  style: Frame;
  hasPick: boolean;
}) {
  return (
    <div className="grid-row" aria-hidden style={style}>
      {hasPick && <span />}
      {columns.map(({ key, kind }) => (
        <span key={key} className={`skeleton ${kind ?? ''}`} />
      ))}
    </div>
  );
}

interface PickedProps {
  picked: number;
  matching: number;
  onPickMatching: () => void;
  onClear: () => void;
  children: ReactNode;
}

/** What can be done with the picked rows. */
export function PickedBar({ picked, matching, onPickMatching, onClear, children }: PickedProps) {
  return (
    <div className="picked">
      <span role="status">{words.table.picked(count(picked), count(matching))}</span>
      {picked < matching && (
        <Button kind="bare" slim onClick={onPickMatching}>
          {words.table.pickMatching(count(matching))}
        </Button>
      )}
      <Button kind="bare" slim onClick={onClear}>
        {words.table.clear}
      </Button>
      <div className="buttons">{children}</div>
    </div>
  );
}
