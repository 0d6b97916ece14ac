import {
  Menu as AriaMenu,
  MenuButton,
  MenuGroup,
  MenuGroupLabel,
  MenuItem,
  MenuItemCheck,
  MenuItemRadio,
  MenuProvider,
  MenuSeparator,
} from '@ariakit/react';
import type { LucideIcon } from 'lucide-react';
import { Fragment, type ReactElement } from 'react';

export interface Command {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly keys?: string;
  readonly danger?: boolean;
  /** Why it cannot be done now. */
  readonly off?: string | undefined;
  readonly run: () => void;
}

/** A choice among a few values, as a group of a menu. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: readonly { value: string; label: string }[];
  readonly choose: (value: string) => void;
}

interface MenuProps {
  button: ReactElement;
  label?: string;
  /** Opens towards the left. */
  end?: boolean;
  /** With a line between the groups. */
  groups: readonly (readonly Command[] | Choice)[];
}

export function Menu({ button, label, end, groups }: MenuProps) {
  return (
    <MenuProvider placement={end ? 'bottom-end' : 'bottom-start'}>
      <MenuButton render={button} />
      <AriaMenu
        className="layer menu"
        gutter={4}
        portal
        unmountOnHide
        {...(label && { 'aria-label': label })}
      >
        {groups.map((group, at) => (
          <Fragment key={'name' in group ? group.name : (group[0]?.label ?? at)}>
            {at > 0 && <MenuSeparator className="rule" />}
            {'name' in group ? (
              <Choices {...group} />
            ) : (
              group.map((each) => <Item key={each.label} {...each} />)
            )}
          </Fragment>
        ))}
      </AriaMenu>
    </MenuProvider>
  );
}

const Item = ({ label, icon: Icon, keys, danger, off, run }: Command) => (
  <MenuItem
    className={danger ? 'item danger' : 'item'}
    disabled={off !== undefined}
    accessibleWhenDisabled
    onClick={run}
  >
    {Icon && <Icon size={16} aria-hidden />}
    {label}
    {(off ?? keys) && <span className="end">{off ?? <kbd className="key">{keys}</kbd>}</span>}
  </MenuItem>
);

const Choices = ({ name, label, value, options, choose }: Choice) => (
  <MenuGroup>
    <MenuGroupLabel className="menu-label">{label}</MenuGroupLabel>
    {options.map((option) => (
      <MenuItemRadio
        key={option.value}
        className="item"
        name={name}
        value={option.value}
        checked={option.value === value}
        onClick={() => choose(option.value)}
      >
        <MenuItemCheck checked={option.value === value} />
        {option.label}
      </MenuItemRadio>
    ))}
  </MenuGroup>
);
