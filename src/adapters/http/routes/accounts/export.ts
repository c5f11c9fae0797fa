import * as v from 'valibot';
import { exportAccount } from '../../../../application/accounts/account-data.ts';
import type { Service } from '../../../../application/service.ts';
import { AMR_VALUES, FACTOR_CHANGE } from '../../../../domain/assurance.ts';
import { LINK_PURPOSES } from '../../../../domain/link.ts';
import { MESSAGE_KINDS } from '../../../../domain/message.ts';
import { StoredEventJson, StoredIdentityJson } from '../../../json/account.ts';
import {
  AttributesJson,
  flags,
  nullableTexts,
  nullableTimes,
  PublicUserJson,
  Timestamp,
  texts,
  times,
} from '../../../json/fields.ts';
import { boundedQueue } from '../../../limits/bounded-queue.ts';
import { eventOriginOf } from '../../request/client.ts';
import { type Route, route } from '../../routing/define-route.ts';
import { ACCOUNT_ROUTE } from './account.ts';

const deviceMembers = nullableTexts('userAgent', 'address');

export const StoredUserJson = v.object({
  ...PublicUserJson.entries,
  /** Stored as 0 if the password was never changed. */
  passwordChangedAt: v.pipe(
    v.number(),
    v.transform((at) => at || null),
    v.nullable(Timestamp),
    v.metadata({ jsonSchema: { anyOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }] } }),
  ),
  ...nullableTimes('emailVerifiedAt', 'disabledAt', 'secondFactorAt'),
  ...{ attributes: AttributesJson, ...nullableTexts('locale') },
});

export const SessionsJson = v.array(
  v.object({
    id: v.string(),
    ...times('createdAt', 'lastUsedAt', 'expiresAt', 'authenticatedAt'),
    amr: v.array(v.picklist(AMR_VALUES)),
    ...nullableTimes('knownAt', 'heldAt'),
    ...deviceMembers,
    binding: v.picklist(['none', 'device', 'browser']),
  }),
);

const Export = v.object({
  exportedAt: Timestamp,
  user: StoredUserJson,
  sessions: SessionsJson,
  rememberedDevices: v.array(v.object({ id: v.string(), ...times('createdAt', 'expiresAt'), ...deviceMembers })),
  events: v.array(StoredEventJson),
  links: v.array(
    v.object({ purpose: v.picklist(LINK_PURPOSES), email: v.string(), ...times('createdAt', 'expiresAt') }),
  ),
  passkeys: v.array(
    v.object({
      ...texts('id', 'credentialId', 'aaguid', 'name'),
      transports: v.array(v.string()),
      ...flags('isSynced', 'isBackedUp'),
      ...{ ...times('createdAt'), ...nullableTimes('lastUsedAt') },
    }),
  ),
  identities: v.array(StoredIdentityJson),
  factors: v.array(v.object({ id: v.string(), ...times('createdAt'), ...nullableTimes('confirmedAt') })),
  recoveryCodes: v.object({ left: v.number() }),
  messages: v.array(
    v.object({
      ...{ ...texts('id', 'to'), kind: v.picklist(MESSAGE_KINDS), ...nullableTexts('email') },
      origin: v.object({ ...deviceMembers, ...nullableTexts('requestId') }),
      createdAt: Timestamp,
    }),
  ),
});

export const ExportJson = v.pipe(Export, v.title('AccountExport'));

/** How long an export waits for earlier exports, in milliseconds. */
const EXPORT_MAX_WAIT = 5_000;

/** The returned function makes one export at a time, since an export may be large. */
export const exportOneAtATime = <Input extends unknown[], Output>(exportData: (...input: Input) => Promise<Output>) => {
  const enqueue = boundedQueue({ width: 1, maxWait: EXPORT_MAX_WAIT });
  return (...input: Input): Promise<Output> => enqueue(() => exportData(...input));
};

export const exportRoute = (deps: Service): Route => {
  const exportOnce = exportOneAtATime(exportAccount(deps));
  return route({
    ...ACCOUNT_ROUTE,
    name: 'export-account',
    summary: 'Return everything that is stored about the user',
    description: 'Five times a minute. Each process makes one at a time: 503, if it would wait too long.',
    at: 'GET /users/me/export',
    requestsPerUser: 5,
    stepUp: FACTOR_CHANGE,
    response: { data: ExportJson },
    handler: ({ caller, signal }, ctx) => exportOnce(caller, eventOriginOf(ctx), signal),
  });
};
