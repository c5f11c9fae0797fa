/** The members of an object in an export, by their names. Values from JSON have types, values from CSV are texts. */
export type Fields = Readonly<Record<string, unknown>>;

export const textOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' || typeof value === 'number' ? `${value}`.trim() : '';
  return text === '' ? undefined : text;
};

export const isTrue = (value: unknown): boolean => ['true', 't', '1'].includes(`${value}`.toLowerCase());

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is an object, or the object in a JSON text; otherwise an empty object. */
export const objectOf = (value: unknown): Fields => {
  if (typeof value !== 'string') return isObject(value) ? value : {};
  try {
    return objectOf(JSON.parse(value) ?? {});
  } catch {
    return {};
  }
};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const objectsIn = (value: unknown): readonly Fields[] => listOf(value).map(objectOf);

export const renamed = (row: Fields, rename: (name: string) => string): Fields =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [rename(name), value]));

/** Lower numbers count as seconds since 1970: as seconds, this number is in the year 5138, as milliseconds in 1973. */
const LEAST_MILLISECONDS = 100_000_000_000;

/**
 * Writes a time in ISO 8601. It reads seconds or milliseconds since 1970, date and time in ISO 8601, and PostgreSQL's form of it; without a time zone, a
 * time is in UTC. Any other text is returned unchanged.
 */
export const timeOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  if (text === undefined) return;
  const epoch = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : null;
  const iso = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)\d*(?: ?(Z|[+-]\d\d)(?::?(\d\d))?)?$/.exec(
    text,
  );
  const [, date, clock, zone = 'Z', minutes = '00'] = iso ?? [];
  const time = new Date(
    epoch === null
      ? `${date}T${clock}${zone === 'Z' ? 'Z' : `${zone}:${minutes}`}`
      : epoch * (epoch < LEAST_MILLISECONDS ? 1000 : 1),
  );
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
};
