import {
  Combobox,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  Menu,
  MenuButton,
  MenuItem,
  MenuProvider,
  Select,
  SelectItem,
  SelectItemCheck,
  SelectPopover,
  SelectProvider,
} from '@ariakit/react';
import { ListFilter, X } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { words } from '../text/words.ts';
import { Button } from './button.tsx';
import { Tip } from './tip.tsx';

export interface FilterValue {
  readonly value: string;
  readonly label: string;
  readonly mark?: ReactElement;
}

/** What one can filter by. */
export interface FilterKind {
  readonly key: string;
  readonly label: string;
  readonly values: readonly FilterValue[];
}

export interface Filter {
  readonly key: string;
  readonly values: readonly string[];
  readonly not: boolean;
  /** What the host said about it. */
  readonly problem?: string;
}

interface FilterBarProps {
  kinds: readonly FilterKind[];
  filters: readonly Filter[];
  onChange: (filters: readonly Filter[]) => void;
}

/** Filters as chips: include or exclude, one value or several. */
export function FilterBar({ kinds, filters, onChange }: FilterBarProps) {
  const [added, setAdded] = useState<string>();
  const kindOf = (key: string) => kinds.find((kind) => kind.key === key);
  const put = (at: number, change: Partial<Filter>): void =>
    onChange(filters.map((each, index) => (index === at ? { ...each, ...change } : each)));
  const drop = (at: number): void => onChange(filters.filter((_, index) => index !== at));
  const add = (key: string): void => {
    setAdded(key);
    if (!filters.some((each) => each.key === key)) onChange([...filters, { key, values: [], not: false }]);
  };
  return (
    <>
      <div className="filters" role="group" aria-label={words.filter.label}>
        {filters.map((filter, at) => {
          const kind = kindOf(filter.key);
          return (
            kind && (
              <Chip
                key={filter.key}
                kind={kind}
                filter={filter}
                opens={added === filter.key}
                onChange={(change) => put(at, change)}
                onRemove={() => drop(at)}
              />
            )
          );
        })}
        <MenuProvider>
          <MenuButton
            render={
              <Button kind="bare" slim icon={ListFilter}>
                {words.filter.add}
              </Button>
            }
          />
          <Menu className="layer menu" gutter={4} portal unmountOnHide>
            {kinds.map((kind) => (
              <MenuItem key={kind.key} className="item" onClick={() => add(kind.key)}>
                {kind.label}
              </MenuItem>
            ))}
          </Menu>
        </MenuProvider>
        {filters.length > 1 && (
          <Button kind="bare" slim onClick={() => onChange([])}>
            {words.filter.clear}
          </Button>
        )}
      </div>
      {filters.map(
        ({ key, problem }) =>
          problem && (
            <p key={key} className="filter-problem" role="alert">
              {kindOf(key)?.label}: {problem}
            </p>
          ),
      )}
    </>
  );
}

interface ChipProps {
  kind: FilterKind;
  filter: Filter;
  opens: boolean;
  onChange: (change: Partial<Filter>) => void;
  onRemove: () => void;
}

function Chip({ kind, filter, opens, onChange, onRemove }: ChipProps) {
  const { values, not, problem } = filter;
  const labels = values.map((value) => kind.values.find((each) => each.value === value)?.label ?? value);
  const shown = labels.length === 0 ? '…' : words.filter.any(labels);
  return (
    <span className={`chip ${not ? 'not' : ''} ${problem ? 'wrong' : ''}`}>
      <Tip text={words.filter.invert(not)}>
        <button type="button" onClick={() => onChange({ not: !not })}>
          {kind.label} <span className="relation">{not ? words.filter.not : words.filter.is}</span>
        </button>
      </Tip>
      <ValuePicker
        kind={kind}
        values={values}
        opens={opens}
        onChange={(next) => onChange({ values: next })}
        button={
          <button type="button" aria-label={words.filter.change(kind.label, shown)}>
            <span className="cut">{shown}</span>
          </button>
        }
      />
      <button
        type="button"
        className="remove"
        aria-label={words.filter.remove(kind.label)}
        onClick={onRemove}
      >
        <X size={14} aria-hidden />
      </button>
    </span>
  );
}

interface ValuePickerProps {
  kind: FilterKind;
  values: readonly string[];
  opens: boolean;
  onChange: (values: readonly string[]) => void;
  button: ReactElement;
}

/** A list of values that is searched by typing; several can be chosen. */
function ValuePicker({ kind, values, opens, onChange, button }: ValuePickerProps) {
  const [text, setText] = useState('');
  const found = kind.values.filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()));
  return (
    <ComboboxProvider resetValueOnHide setValue={setText}>
      <SelectProvider defaultOpen={opens} value={[...values]} setValue={onChange}>
        <Select render={button} />
        <SelectPopover className="layer menu" gutter={4} portal unmountOnHide>
          <Combobox autoSelect className="input" placeholder={kind.label} aria-label={kind.label} />
          <ComboboxList className="found">
            {found.map(({ value, label, mark }) => (
              <SelectItem
                key={value}
                value={value}
                className="item"
                render={<ComboboxItem hideOnClick={false} />}
              >
                <SelectItemCheck />
                {mark}
                {label}
              </SelectItem>
            ))}
          </ComboboxList>
          {found.length === 0 && <p className="menu-label">{words.nothingFound}</p>}
        </SelectPopover>
      </SelectProvider>
    </ComboboxProvider>
  );
}
