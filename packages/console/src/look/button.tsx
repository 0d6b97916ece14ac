import type { LucideIcon } from 'lucide-react';
import type { ComponentProps, MouseEvent, ReactNode } from 'react';
import { Tip } from './tip.tsx';

export interface ButtonProps extends Omit<ComponentProps<'button'>, 'type'> {
  /** At most one `primary` button on a page. */
  kind?: 'primary' | 'plain' | 'bare' | 'danger';
  icon?: LucideIcon;
  slim?: boolean;
  /** Pressed, and not answered yet: it keeps its size and its focus, and does nothing more. */
  busy?: boolean;
  submit?: boolean;
  children?: ReactNode;
}

/** A disabled button stays in the order of the keyboard, so that one can find out why. */
export function Button({ kind = 'plain', icon: Icon, slim, busy, submit, disabled, ...rest }: ButtonProps) {
  const { className = '', onClick, children, ...others } = rest;
  const isInert = disabled === true || busy === true;
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    if (isInert) event.preventDefault();
    else onClick?.(event);
  };
  const mark = busy ? <Dots /> : Icon && <Icon size={16} aria-hidden />;
  return (
    <button
      {...others}
      type={submit ? 'submit' : 'button'}
      className={`button ${kind} ${slim ? 'slim' : ''} ${className}`}
      aria-disabled={isInert || undefined}
      aria-busy={busy || undefined}
      onClick={press}
    >
      {mark}
      {children}
    </button>
  );
}

const Dots = () => (
  <span className="dots" aria-hidden>
    <i />
    <i />
    <i />
  </span>
);

/** An icon alone has its name as a tooltip. */
export function IconButton({
  label,
  keys,
  ...rest
}: Omit<ButtonProps, 'children' | 'className'> & { label: string; keys?: string }) {
  return (
    <Tip text={label} {...(keys && { keys })}>
      <Button kind="bare" {...rest} className="icon" aria-label={label} />
    </Tip>
  );
}
