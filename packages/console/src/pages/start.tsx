import { useQuery } from '@tanstack/react-query';
import { host } from '../app/host.ts';
import { useTitle } from '../app/title.ts';
import { Banner, CommandLine, Skeleton } from '../look/notice.tsx';
import { words } from '../text/words.ts';

const texts = words.start;

/** What a browser sees first: which host this is, and whether it works. */
export function StartPage() {
  useTitle(texts.title);
  const about = useQuery({ queryKey: ['discovery'], queryFn: () => host.discovery() });
  const version = about.data?.implementation;
  return (
    <>
      {about.isError && <Banner bad>{texts.unreachable}</Banner>}
      <div className="page-head">
        <h1>{texts.lead}</h1>
      </div>
      <div className="page-body start">
        <dl className="facts">
          <dt>{texts.version}</dt>
          <dd>{version ? `${version.name} ${version.version}` : <Skeleton width="8ch" />}</dd>
          <dt>{texts.address}</dt>
          <dd>{location.origin}</dd>
        </dl>
        <p className="prose">{texts.cli}</p>
        <CommandLine text={texts.command} />
      </div>
    </>
  );
}
