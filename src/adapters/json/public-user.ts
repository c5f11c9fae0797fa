import * as v from 'valibot';

/** The last time whose year has four digits, as RFC 3339 §5.6 requires. */
const LAST_TIMESTAMP = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Epoch milliseconds → ISO 8601 in UTC. */
export const Timestamp = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0),
  v.maxValue(LAST_TIMESTAMP),
  v.transform((milliseconds) => new Date(milliseconds).toISOString()),
  v.metadata({ jsonSchema: { type: 'string', format: 'date-time' } }),
);

const NO_TIMESTAMP = 'must be a time such as 2026-11-21T23:03:48.228Z';
/** ISO 8601 → epoch milliseconds. */
export const FromTimestamp = v.pipe(
  v.string(),
  v.isoTimestamp(NO_TIMESTAMP),
  v.transform((text) => Date.parse(text)),
  v.integer(NO_TIMESTAMP),
);

/** The domain's public user → JSON. Drops unknown members, so that no other member of a user is sent. */
export const PublicUserJson = v.pipe(
  v.object({
    id: v.string(),
    username: v.string(),
    email: v.string(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  }),
  v.title('User'),
);

/** What operators have stated about a user. */
export const AttributesJson = v.record(v.string(), v.unknown());

/** What users see of themselves. */
export const CurrentUserJson = v.pipe(
  v.object({
    ...PublicUserJson.entries,
    emailVerified: v.boolean(),
    attributes: AttributesJson,
    locale: v.nullable(v.string()),
    secondFactor: v.boolean(),
    passkeys: v.number(),
  }),
  v.title('CurrentUser'),
);

/** JSON → the domain's public user. Refuses unknown members. */
export const PublicUserFromJson = v.strictObject({
  id: v.string(),
  username: v.string(),
  email: v.string(),
  createdAt: FromTimestamp,
  updatedAt: FromTimestamp,
});
