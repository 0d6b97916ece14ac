/** All packs of a tenant share one store, so names begin with the pack's. */
const tableOf = ({ book = 'main' }) => `vendor.gantry.guestbook/${book}`;

/**
 * A node that runs again after a crash is answered from the record: it gets the same number, and adds no second row.
 * Two runs at once get different numbers.
 */
async function sign({ inputs, config, storage }) {
  const table = tableOf(config);
  const { value: number } = await storage.kv.atomicIncrement({ namespace: table, key: 'entries' });
  const row = { number, name: inputs.name, message: inputs.message };
  const { rowId } = await storage.table.insert({ table, row });
  return { status: 'success', outputs: { number, entryId: rowId } };
}

/** Only reads, so it may be pure. */
async function read({ inputs, config, storage }) {
  const page = { table: tableOf(config), orderBy: ['-number'], limit: inputs.limit ?? 10 };
  try {
    const { rows } = await storage.table.query(page);
    return { status: 'success', outputs: { entries: rows } };
  } catch (error) {
    // Nobody has signed yet
    if (error.code === 'table_not_found') return { status: 'success', outputs: { entries: [] } };
    throw error;
  }
}

export const nodes = {
  'vendor.gantry.guestbook.sign': sign,
  'vendor.gantry.guestbook.read': read,
};
