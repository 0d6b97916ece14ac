import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { useWho } from '../app/session.tsx';
import { useTitle } from '../app/title.ts';
import { CommandLine, Skeleton } from '../look/notice.tsx';
import { words } from '../text/words.ts';

const texts = words.start;

/** Which host this is, and what one may do. */
export function StartPage() {
  useTitle(texts.title);
  const { name, tenant, scopes } = useWho();
  const about = useQuery({ queryKey: ['discovery'], queryFn: () => host.discovery() });
  const version = about.data?.implementation;
  return (
    <>
      <div className="page-head">
        <h1>{texts.lead}</h1>
      </div>
      <div className="page-body start">
        <dl className="facts">
          <dt>{texts.version}</dt>
          <dd>{version ? `${version.name} ${version.version}` : <Skeleton width="8ch" />}</dd>
          <dt>{texts.address}</dt>
          <dd>{location.origin}</dd>
          <dt>{texts.key}</dt>
          <dd>{name}</dd>
          <dt>{texts.tenant}</dt>
          <dd>{tenant}</dd>
          <dt>{texts.scopes}</dt>
          <dd className="prose">{scopes.join(', ')}</dd>
        </dl>
        <p>{texts.cli}</p>
        <CommandLine text={texts.command} />
      </div>
    </>
  );
}
