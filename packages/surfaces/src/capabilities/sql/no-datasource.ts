import { didYouMean, OpenwopError } from '@gantry/protocol';

const ID_READ_MAX = 64;
const IDS_SHOWN_MAX = 20;

/** `known`: those that the tenant may use, and no others. What was asked for may be an address: it is not repeated. */
export function noDatasource(id: string, known: readonly string[]): OpenwopError {
  const ids = [...new Set(known)];
  const listed = [...ids.slice(0, IDS_SHOWN_MAX), ...(ids.length > IDS_SHOWN_MAX ? ['…'] : [])].join(', ');
  const meant = didYouMean(id.slice(0, ID_READ_MAX), ids);
  return new OpenwopError('datasource_not_found', {
    message: `There is no data source of this name.${meant} This tenant has ${listed || 'none'}; only the operator can add one.`,
  });
}
