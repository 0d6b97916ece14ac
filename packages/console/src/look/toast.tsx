import { CircleAlert, CircleCheck, Info, X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { words } from '../text/words.ts';
import { Button, IconButton } from './button.tsx';

export interface Toast {
  readonly kind: 'good' | 'bad' | 'plain';
  readonly text: string;
  /** What one may want to do next; `Undo` above all. */
  readonly action?: { label: string; run: () => void };
}

interface Shown extends Toast {
  readonly id: number;
}

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;
const MARKS = { good: CircleCheck, bad: CircleAlert, plain: Info };

let shown: readonly Shown[] = [];
let last = 0;
const watchers = new Set<() => void>();

function set(next: readonly Shown[]): void {
  shown = next;
  for (const watcher of watchers) watcher();
}

export const dismiss = (id: number): void => set(shown.filter((each) => each.id !== id));

/** Failures stay until they are closed: nobody misses one by looking away. */
export function toast(message: Toast): void {
  const id = ++last;
  set([...shown, { ...message, id }].slice(-SHOWN_MAX));
  if (message.kind !== 'bad') setTimeout(() => dismiss(id), SHOWN_MS);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function Toasts() {
  const all = useSyncExternalStore(watch, () => shown);
  return (
    <div className="toasts" role="status">
      {all.map((each) => (
        <ToastView key={each.id} toast={each} onClose={() => dismiss(each.id)} />
      ))}
    </div>
  );
}

export function ToastView({ toast: { kind, text, action }, onClose }: { toast: Toast; onClose: () => void }) {
  const Mark = MARKS[kind];
  return (
    <div className={`toast ${kind}`}>
      <Mark size={16} aria-hidden />
      <p>{text}</p>
      {action && (
        <Button kind="bare" slim onClick={action.run}>
          {action.label}
        </Button>
      )}
      <IconButton label={words.close} icon={X} slim onClick={onClose} />
    </div>
  );
}
