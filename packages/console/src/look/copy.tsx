import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { words } from '../text/words.ts';
import { IconButton } from './button.tsx';
import { shortId } from './format.ts';
import { Tip } from './tip.tsx';

const TOLD_MS = 1_500;

/** On plain HTTP from other machines browsers offer only the older way. */
async function write(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

export function useCopy(text: string) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(setCopied, TOLD_MS, false);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return { isCopied, copy: () => void write(text).then(() => setCopied(true)) };
}

export function CopyButton({ text }: { text: string }) {
  const { isCopied, copy } = useCopy(text);
  const label = isCopied ? words.copied : words.copy;
  return <IconButton label={label} icon={isCopied ? Check : Copy} slim onClick={copy} />;
}

/** An id, cut in the middle. A click copies all of it. */
export function Ident({ id }: { id: string }) {
  const { isCopied, copy } = useCopy(id);
  return (
    <Tip text={isCopied ? words.copied : id}>
      <button type="button" className="ident" onClick={copy}>
        <span aria-hidden>{shortId(id)}</span>
        <span className="hidden">{words.copyId(id)}</span>
      </button>
    </Tip>
  );
}
