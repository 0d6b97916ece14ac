import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  Dialog,
} from '@ariakit/react';
import { type LucideIcon, Search } from 'lucide-react';
import { useState } from 'react';
import { words } from '../text/words.ts';

export interface Found {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly icon: LucideIcon;
  readonly run: () => void;
}

export interface FoundGroup {
  readonly label: string;
  readonly found: readonly Found[];
}

interface CommandBoxProps {
  open: boolean;
  onClose: () => void;
  /** What matches the text; the first is taken by Enter. */
  search: (text: string) => readonly FoundGroup[];
}

/** One field for every place and command. */
export function CommandBox({ open, onClose, search }: CommandBoxProps) {
  const [text, setText] = useState('');
  const groups = search(text).filter(({ found }) => found.length > 0);
  return (
    <Dialog
      className="dialog command"
      open={open}
      onClose={onClose}
      backdrop={<div className="shade" />}
      aria-label={words.search.open}
      portal
      unmountOnHide
    >
      <ComboboxProvider open={open} setOpen={(isOpen) => !isOpen && onClose()} setValue={setText} focusLoop>
        <div className="find">
          <Search size={16} aria-hidden />
          <Combobox autoSelect="always" placeholder={words.search.place} aria-label={words.search.place} />
          <kbd className="key">{words.keys.escape}</kbd>
        </div>
        <ComboboxList className="menu" alwaysVisible>
          {groups.map(({ label, found }) => (
            <ComboboxGroup key={label}>
              <ComboboxGroupLabel className="menu-label">{label}</ComboboxGroupLabel>
              {found.map((each) => (
                <Entry key={each.id} {...each} onDone={onClose} />
              ))}
            </ComboboxGroup>
          ))}
        </ComboboxList>
        {groups.length === 0 && <p className="nothing">{words.nothingFound}</p>}
      </ComboboxProvider>
    </Dialog>
  );
}

const Entry = ({ label, hint, icon: Icon, run, onDone }: Found & { onDone: () => void }) => (
  <ComboboxItem
    className="item"
    value={label}
    setValueOnClick={false}
    onClick={() => {
      onDone();
      run();
    }}
  >
    <Icon size={16} aria-hidden />
    <span className="cut">{label}</span>
    {hint && <span className="end">{hint}</span>}
  </ComboboxItem>
);
