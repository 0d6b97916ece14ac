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

const table = {
  path: 'accounts',
  item: { deposit: 'write', freeze: 'write', withdraw: 'write', covers: 'read' },
  all: { sum: 'read', transfer: 'write' },
} as const;
export const accountsWire = wire(table, {
  about: 'Hold an amount',
  scopes: { read: ['runs:read'], write: ['runs:create'] },
  input: Type.Object({ name: Type.String() }),
  view: Account,
  feed: true,
  methods: {
    deposit: { about: 'Add to its amount', in: Amount },
    freeze: { about: 'Refuse deposits from now on', in: Type.Object({}) },
    withdraw: { about: 'Take from its amount', in: Amount, out: Type.Integer() },
    covers: { about: 'Whether it holds as much', in: Amount, out: Type.Boolean() },
    sum: {
      about: 'Add amounts',
      in: Type.Object({ amounts: Type.Array(Type.Integer()) }),
      out: Type.Integer(),
    },
    transfer: {
      about: 'Move an amount from one account to another',
      in: Type.Object({ from: Type.String(), to: Type.String(), ...Amount.properties }),
      out: Type.Object({ from: Type.Integer(), to: Type.Integer() }),
    },
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
  unique: ['name'],
  index: { name: ({ name }) => name },
  create: ({ name }) => ({ name, amount: 0, frozen: false }),
  verbs: {
    deposit: (account, { amount }) =>
      account.frozen ? refuse('The account is frozen.') : { ...account, amount: account.amount + amount },
    freeze: (account) => ({ ...account, frozen: true }),
  },
  reads: { covers: (account, { amount }) => account.amount >= amount },
  acts: {
    withdraw: async (stored, { amount }, change) =>
      change.update(stored, { amount: stored.record.amount - amount }).record.amount,
  },
  all: { sum: ({ amounts }) => amounts.reduce((sum, amount) => sum + amount, 0) },
  allActs: {
    transfer: async ({ from, to, amount }, change, { kind }) => {
      const giver = await change.get(kind, from);
      if (giver.record.amount < amount) refuse('The account does not hold as much.');
      const left = change.update(giver, { amount: giver.record.amount - amount });
      const taker = await change.get(kind, to);
      const filled = change.update(taker, { amount: taker.record.amount + amount });
      return { from: left.record.amount, to: filled.record.amount };
    },
  },
  remove: ({ amount }) => void (amount > 0 && refuse('The account is not empty.')),
  show: ({ id, record }) => ({ id, ...record }),
});
