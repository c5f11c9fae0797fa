import * as v from 'valibot';
import { AttributesJson, Timestamp } from './fields.ts';

/** What the back office shows besides users. */

export const InvitationJson = v.pipe(
  v.object({
    id: v.string(),
    email: v.string(),
    attributes: AttributesJson,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  }),
  v.title('Invitation'),
  v.examples([
    {
      ...{ id: '01M805M084GXA5E2JTR4FKH6WN', email: 'grace@example.org', attributes: {} },
      ...{ createdAt: '2026-11-21T23:03:48.228Z', expiresAt: '2026-11-28T23:03:48.228Z' },
    },
  ]),
);

export const WebhookJson = v.object({
  ...{ id: v.string(), url: v.string(), types: v.nullable(v.array(v.string())) },
  ...{ createdAt: Timestamp, disabledAt: v.nullable(Timestamp), waiting: v.number(), givenUp: v.number() },
  failures: v.array(
    v.object({
      ...{ userId: v.string(), type: v.string(), attempts: v.number() },
      ...{ lastError: v.nullable(v.string()), nextAttemptAt: v.nullable(Timestamp) },
    }),
  ),
});

export const SettingJson = v.object({
  name: v.string(),
  /** `null`: it is a secret. */
  value: v.nullable(v.string()),
  isSet: v.boolean(),
  meaning: v.string(),
});
