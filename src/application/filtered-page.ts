/** How many rows one call of `read` asks for at most if `maxRows` is set. */
const ROWS_AT_ONCE = 1_000;

type PageSource<Row, Item> = {
  /** Reads the next rows after a place; `null`: the first rows. Fewer rows than the limit are the last ones of the list. */
  readonly read: (after: string | null, limit: number) => Promise<readonly Row[]>;
  readonly placeOf: (row: Row) => string;
  /** The item of a row; `null` leaves the row out. */
  readonly itemOf: (row: Row) => Item | null | Promise<Item | null>;
  /** How many rows are read for one page at most: up to `ROWS_AT_ONCE`, or a multiple of it. Default: as many as it takes to fill the page. */
  readonly maxRows?: number | undefined;
};

/**
 * A page of a list whose filter may have no index. With `maxRows`, the page may have fewer items than the limit, or none.
 * @returns `next`: the place after which the list continues; `null` on the last page.
 */
export const filteredPage = async <Row, Item>(
  { read, placeOf, itemOf, maxRows }: PageSource<Row, Item>,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<{ readonly items: Item[]; readonly next: string | null }> => {
  const items: Item[] = [];
  const size = maxRows === undefined ? limit + 1 : Math.min(maxRows, ROWS_AT_ONCE);
  for (let [place, rowsRead] = [after, 0]; ; ) {
    const rows = await read(place, size);
    for (const row of rows) {
      if (items.length === limit) return { items, next: place };
      const item = await itemOf(row);
      if (item !== null) items.push(item);
      place = placeOf(row);
    }
    rowsRead += rows.length;
    if (rows.length < size) return { items, next: null };
    if (maxRows !== undefined && rowsRead >= maxRows) return { items, next: place };
  }
};
