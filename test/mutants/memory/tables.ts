/** The parts of a `Map` that the memory adapters use. A stored value is never changed, only replaced. */
export type Table<Value> = Pick<Map<string, Value>, 'get' | 'has' | 'delete' | 'values' | 'size'> & {
  set(key: string, value: Value): unknown;
};

/** The tables of the memory adapters. */
export type Tables = {
  /** The table of that name. */
  open<Value>(name: string): Table<Value>;
};

/** Tables that can be changed together. */
export type SharedTables = Tables & { begin(): Changes };

/** Changes that nobody else sees yet. */
type Changes = {
  readonly tables: Tables;
  /** Makes the changes, unless one of the values that they were based on has changed since. @returns whether it made them. */
  commit(): boolean;
};

/** Makes each table once, by its name. */
const opened = <Each>(make: (name: string) => Each) => {
  const made = new Map<string, Each>();
  const open = (name: string): Each => {
    const each = made.get(name) ?? make(name);
    made.set(name, each);
    return each;
  };
  return { open, all: () => [...made.values()] };
};

export const memoryTables = (): SharedTables => {
  const stored = opened(() => new Map<string, unknown>());
  // The caller of `open` knows the type of the values.
  const typed = (open: (name: string) => Table<unknown>) => open as Tables['open'];
  return {
    open: typed(stored.open),
    begin() {
      const changed = opened((name) => changesOf(stored.open(name)));
      return {
        tables: { open: typed((name) => changed.open(name).table) },
        commit() {
          const changes = changed.all();
          if (changes.some(({ isOutdated }) => isOutdated())) return false;
          for (const { apply } of changes) apply();
          return true;
        },
      };
    },
  };
};

/** Changes of one table. `undefined` stands for no value. */
const changesOf = (stored: Map<string, unknown>) => {
  /** The values that the changes are based on. */
  const seen = new Map<string, unknown>();
  const changed = new Map<string, unknown>();
  const get = (key: string): unknown => {
    if (!seen.has(key)) seen.set(key, stored.get(key));
    return changed.has(key) ? changed.get(key) : seen.get(key);
  };
  const put = (key: string, value: unknown): boolean => {
    const had = get(key) !== undefined;
    changed.set(key, value);
    return had;
  };
  const current = () => new Map([...new Map([...stored, ...changed])].filter(([, value]) => value !== undefined));
  const table: Table<unknown> = {
    get,
    has: (key) => get(key) !== undefined,
    set: put,
    delete: (key) => put(key, undefined),
    values: () => current().values(),
    get size() {
      return current().size;
    },
  };
  return {
    table,
    isOutdated: () => [...seen].some(([key, value]) => stored.get(key) !== value),
    apply() {
      for (const [key, value] of changed) {
        if (value === undefined) stored.delete(key);
        else stored.set(key, value);
      }
    },
  };
};
