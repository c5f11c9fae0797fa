/** Remembers how to undo changes, while a unit of work runs. */
export type Journal = { undo: (() => void)[] | null };

/** A map whose changes are undone when the unit of work that made them fails. Without a journal it is a plain map. */
export const journaledMap = <Key, Value>(journal: Journal = { undo: null }): Map<Key, Value> => {
  const map = new Map<Key, Value>();
  const remember = (key: Key) => {
    const had = map.has(key);
    const before = map.get(key);
    journal.undo?.push(() => {
      if (had) Map.prototype.set.call(map, key, before);
      else Map.prototype.delete.call(map, key);
    });
  };
  return Object.assign(map, {
    set(key: Key, value: Value) {
      remember(key);
      return Map.prototype.set.call(map, key, value) as Map<Key, Value>;
    },
    delete(key: Key) {
      remember(key);
      return Map.prototype.delete.call(map, key);
    },
  });
};
