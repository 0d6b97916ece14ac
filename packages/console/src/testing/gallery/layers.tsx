import { Pause, Pencil, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../look/button.tsx';
import { Confirm, Dialog } from '../../look/dialog.tsx';
import { TextField } from '../../look/field.tsx';
import { Menu } from '../../look/menu.tsx';
import { Banner } from '../../look/notice.tsx';
import { Tip } from '../../look/tip.tsx';
import { ToastView, toast } from '../../look/toast.tsx';
import { Part } from './parts.tsx';

const nothing = () => {};
const noPromise = async () => {};

export function Layers() {
  const [open, setOpen] = useState<'dialog' | 'confirm' | 'refused'>();
  const close = () => setOpen(undefined);
  return (
    <Part title="Layers">
      <div className="buttons">
        <Menu
          button={<Button>Menu</Button>}
          groups={[
            [
              { label: 'Run again', icon: RotateCcw, keys: 'r', run: nothing },
              { label: 'Edit input', icon: Pencil, run: nothing },
              { label: 'Pause', icon: Pause, off: 'has ended', run: nothing },
            ],
            [{ label: 'Delete run', icon: Trash2, danger: true, run: nothing }],
          ]}
        />
        <Tip text="What it does" keys="e">
          <Button>Tooltip</Button>
        </Tip>
        <Button onClick={() => setOpen('dialog')}>Dialog</Button>
        <Button onClick={() => setOpen('confirm')}>Confirm</Button>
        <Button onClick={() => setOpen('refused')}>Refused</Button>
        <Button onClick={() => toast({ kind: 'good', text: '12 runs were cancelled.' })}>Toast</Button>
      </div>
      <div className="columns">
        <ToastView
          toast={{ kind: 'good', text: '12 runs were cancelled.', action: { label: 'Undo', run: nothing } }}
          onClose={nothing}
        />
        <ToastView
          toast={{ kind: 'bad', text: 'Not cancelled: the run has ended meanwhile.' }}
          onClose={nothing}
        />
      </div>
      <Banner>The host does not answer. What you see is from 14:02. Trying again in 4s.</Banner>
      <Banner bad action={<Button slim>Sign in</Button>}>
        Your session has ended. Nothing that you typed is lost.
      </Banner>
      <Dialogs open={open} close={close} />
    </Part>
  );
}

function Dialogs({ open, close }: { open: string | undefined; close: () => void }) {
  return (
    <>
      <Dialog
        open={open === 'dialog'}
        title="Run invoice"
        about="With the inputs of the last run."
        onClose={close}
      >
        <TextField label="Name" defaultValue="Ada" />
        <div className="buttons">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary">Run</Button>
        </div>
      </Dialog>
      <Confirm
        open={open === 'confirm'}
        title="Cancel 12 runs?"
        about="They stop after the node that is running. Effects that they had stay."
        action="Cancel 12 runs"
        danger
        onConfirm={noPromise}
        onClose={close}
      />
      <Confirm
        open={open === 'refused'}
        title="Run again from charge?"
        about="2 effects before it are kept, 1 will happen again: the mail to ada@example.com."
        action="Run again"
        onConfirm={async () => {
          throw new Error('The run has been deleted meanwhile.');
        }}
        onClose={close}
      />
    </>
  );
}
