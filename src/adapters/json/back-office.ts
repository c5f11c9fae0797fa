import * as v from 'valibot';
import { AttributesJson, nullableTexts, nullableTimes, numbers, texts, times } from './fields.ts';

export const InvitationJson = v.pipe(
  v.object({ ...texts('id', 'email'), attributes: AttributesJson, ...times('createdAt', 'expiresAt') }),
  v.title('Invitation'),
  v.examples([
    {
      ...{ id: '01M805M084GXA5E2JTR4FKH6WN', email: 'grace@example.org', attributes: {} },
      ...{ createdAt: '2026-11-21T23:03:48.228Z', expiresAt: '2026-11-28T23:03:48.228Z' },
    },
  ]),
);

export const WebhookJson = v.object({
  ...texts('id', 'url'),
  types: v.nullable(v.array(v.string())),
  ...{ ...times('createdAt'), ...nullableTimes('disabledAt'), ...numbers('waiting', 'givenUp') },
  failures: v.array(
    v.object({
      ...{ ...texts('userId', 'type'), ...numbers('attempts') },
      ...{ ...nullableTexts('lastError'), ...nullableTimes('nextAttemptAt') },
    }),
  ),
});

export const SettingJson = v.object({
  ...texts('name', 'meaning'),
  /** `null`: the value is not shown, for instance since it is a secret. */
  value: v.nullable(v.string()),
  isSet: v.boolean(),
});
