import type { RunStatus } from '@gantry/protocol';
import type { ReactNode } from 'react';
import { markOf, StatusMark } from './status-mark.tsx';

/** What is going on with a run, in the words of the host, and what one can do. */
export function Explain({
  status,
  text,
  notes = [],
  children,
}: {
  status: RunStatus;
  text: string;
  notes?: readonly string[];
  /** Its actions as buttons; the likely one first. */
  children?: ReactNode;
}) {
  return (
    <section className={`explain ${markOf(status)}`}>
      <div>
        <p className="says prose">
          <StatusMark status={status} wordless />
          {text}
        </p>
        {notes.map((note) => (
          <p key={note} className="note prose small">
            {note}
          </p>
        ))}
      </div>
      {children && <div className="buttons">{children}</div>}
    </section>
  );
}
