/** What a page says when there is nothing to show, or when something is wrong with all of it. */
import { type LucideIcon, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyButton } from './copy.tsx';

/** One sentence, one button, one command. */
export function Empty({
  icon: Icon,
  text,
  command,
  children,
}: {
  icon: LucideIcon;
  text: ReactNode;
  command?: string;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <p>{text}</p>
      {children}
      {command && <CommandLine text={command} />}
    </div>
  );
}

export const CommandLine = ({ text }: { text: string }) => (
  <span className="command-line">
    <code>{text}</code>
    <CopyButton text={text} />
  </span>
);

export const Banner = ({
  bad,
  children,
  action,
}: {
  bad?: boolean;
  children: ReactNode;
  action?: ReactNode;
}) => (
  <div className={bad ? 'banner bad' : 'banner'} role="status">
    <TriangleAlert size={16} aria-hidden />
    <p>{children}</p>
    {action}
  </div>
);

export const Skeleton = ({ width }: { width: string }) => <span className="skeleton" style={{ width }} />;
