import { Select, SelectItem, SelectItemCheck, SelectPopover, SelectProvider } from '@ariakit/react';
import { ChevronDown, CircleAlert } from 'lucide-react';
import { type ComponentProps, type ReactNode, useId } from 'react';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  /** In the words of the host. */
  problem?: string | undefined;
}

interface Described {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** A label above, a hint or what is wrong below, all known to screen readers. */
function Field({ label, hint, problem, children }: FieldProps & { children: (own: Described) => ReactNode }) {
  const id = useId();
  const about = problem ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': about ? `${id}-about` : undefined,
        'aria-invalid': problem ? true : undefined,
      })}
      {problem ? (
        <p id={`${id}-about`} className="problem">
          <CircleAlert size={14} aria-hidden />
          {problem}
        </p>
      ) : (
        hint && (
          <p id={`${id}-about`} className="hint">
            {hint}
          </p>
        )
      )}
    </div>
  );
}

type TextFieldProps = FieldProps & Omit<ComponentProps<'input'>, 'id' | 'className'> & { mono?: boolean };

export function TextField({ label, hint, problem, mono, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(own) => <input {...input} {...own} className={mono ? 'input mono' : 'input'} />}
    </Field>
  );
}

type TextAreaProps = FieldProps & Omit<ComponentProps<'textarea'>, 'id' | 'className'> & { mono?: boolean };

export function TextArea({ label, hint, problem, mono, ...input }: TextAreaProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(own) => <textarea {...input} {...own} className={mono ? 'input mono' : 'input'} />}
    </Field>
  );
}

interface SelectFieldProps extends FieldProps {
  value: string;
  options: readonly { value: string; label: string }[];
  onChange: (value: string) => void;
  disabled?: boolean;
}

export function SelectField({ label, hint, problem, value, options, onChange, disabled }: SelectFieldProps) {
  const chosen = options.find((option) => option.value === value);
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(own) => (
        <SelectProvider value={value} setValue={onChange}>
          <Select {...own} className="input select" disabled={disabled ?? false} accessibleWhenDisabled>
            <span className="cut">{chosen?.label ?? value}</span>
            <ChevronDown size={16} aria-hidden />
          </Select>
          <SelectPopover className="layer menu" gutter={4} sameWidth portal unmountOnHide>
            {options.map((option) => (
              <SelectItem key={option.value} value={option.value} className="item">
                <SelectItemCheck />
                {option.label}
              </SelectItem>
            ))}
          </SelectPopover>
        </SelectProvider>
      )}
    </Field>
  );
}

type ChoiceProps = Omit<ComponentProps<'input'>, 'type' | 'className'> & { label: string };

export function Checkbox({ label, ...input }: ChoiceProps) {
  return (
    <label className="choice">
      <input {...input} type="checkbox" className="box" />
      {label}
    </label>
  );
}

/** For what takes effect at once; a checkbox waits for a button. */
export function Switch({ label, ...input }: ChoiceProps) {
  return (
    <label className="choice">
      <input {...input} type="checkbox" role="switch" aria-checked={input.checked} className="switch" />
      {label}
    </label>
  );
}
