/** A whole resource: accounts that hold an amount, can be frozen, and have names of their own. */
import { OpenwopError, wire } from '@gantry/protocol';
import Type from 'typebox';
import { resource } from '../resource.ts';

const Amount = Type.Object({ amount: Type.Integer({ minimum: 1 }) });
const Account = Type.Object({
  id: Type.String(),
  name: Type.String(),
  amount: Type.Integer(),
  frozen: Type.Boolean(),
});

const table = { path: 'accounts', item: { deposit: 'write', freeze: 'write', covers: 'read' } } as const;
const accountsWire = wire(table, {
  about: 'Hold an amount',
  scopes: { read: ['runs:read'], write: ['runs:create'] },
  input: Type.Object({ name: Type.String() }),
  view: Account,
  methods: {
    deposit: { about: 'Add to its amount', in: Amount },
    freeze: { about: 'Refuse deposits from now on', in: Type.Object({}) },
    covers: { about: 'Whether it holds as much', in: Amount, out: Type.Boolean() },
  },
});

export interface AccountRecord {
  readonly name: string;
  readonly amount: number;
  readonly frozen: boolean;
}

const refuse = (message: string): never => {
  throw new OpenwopError('conflict', { message });
};

export const accounts = resource<typeof accountsWire, AccountRecord>(accountsWire, {
  kind: 'account',
  idPrefix: 'acc',
  max: 100,
  feed: true,
  unique: ['name'],
  index: { name: ({ name }) => name },
  create: ({ name }) => ({ name, amount: 0, frozen: false }),
  verbs: {
    deposit: (account, { amount }) =>
      account.frozen ? refuse('The account is frozen.') : { ...account, amount: account.amount + amount },
    freeze: (account) => ({ ...account, frozen: true }),
  },
  reads: { covers: (account, { amount }) => account.amount >= amount },
  remove: ({ amount }) => void (amount > 0 && refuse('The account is not empty.')),
  show: ({ id, record }) => ({ id, ...record }),
});
