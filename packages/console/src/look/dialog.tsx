import { Dialog as AriaDialog, DialogDescription, DialogHeading } from '@ariakit/react';
import { CircleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { words } from '../text/words.ts';
import { Button } from './button.tsx';

interface DialogProps {
  open: boolean;
  title: string;
  about?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** In the middle of a desk, at the bottom of a phone. */
export function Dialog({ open, title, about, onClose, children }: DialogProps) {
  return (
    <AriaDialog
      className="dialog"
      open={open}
      onClose={onClose}
      backdrop={<div className="shade" />}
      portal
      unmountOnHide
    >
      <DialogHeading>{title}</DialogHeading>
      {about && <DialogDescription className="prose">{about}</DialogDescription>}
      {children}
    </AriaDialog>
  );
}

interface ConfirmProps extends Omit<DialogProps, 'children'> {
  /** The verb with its object and number: "Cancel 12 runs", never "OK". */
  action: string;
  danger?: boolean;
  onConfirm: () => Promise<void>;
  children?: ReactNode;
}

/** Stays open while it works and when it fails; the reason is told where the button was pressed. */
export function Confirm({ action, danger, onConfirm, onClose, children, ...dialog }: ConfirmProps) {
  const [state, setState] = useState<{ busy?: boolean; problem?: string }>({});
  const confirm = async (): Promise<void> => {
    setState({ busy: true });
    try {
      await onConfirm();
      setState({});
      onClose();
    } catch (error) {
      setState({ problem: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <Dialog {...dialog} onClose={onClose}>
      {children}
      {state.problem && (
        <p className="problem" role="alert">
          <CircleAlert size={14} aria-hidden />
          {state.problem}
        </p>
      )}
      <div className="buttons">
        <Button onClick={onClose}>{words.cancel}</Button>
        <Button
          kind={danger ? 'danger' : 'primary'}
          busy={state.busy ?? false}
          onClick={() => void confirm()}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
