import * as v from 'valibot';
import { flags, nullableTimes, Timestamp, texts, times } from './fields.ts';

export const PasskeyJson = v.pipe(
  v.object({
    ...texts('id', 'credentialId', 'name', 'aaguid'),
    ...flags('synced', 'backedUp'),
    ...{ ...times('createdAt'), ...nullableTimes('lastUsedAt') },
  }),
  v.title('Passkey'),
);

/** The passkey comes with recovery codes if the user has none, and no other way in than passkeys. */
export const AddedPasskeyJson = v.object({ ...PasskeyJson.entries, recoveryCodes: v.optional(v.array(v.string())) });

export const FactorsJson = v.object({
  passkeys: v.array(PasskeyJson),
  totp: v.array(v.object({ id: v.string(), createdAt: Timestamp })),
  recoveryCodes: v.number(),
});

export const StartedAppJson = v.object(texts('id', 'secret', 'uri', 'qr'));

const CredentialDescriptor = v.object({
  type: v.literal('public-key'),
  id: v.string(),
  transports: v.optional(v.array(v.string())),
});

export const CreationOptionsJson = v.pipe(
  v.object({
    rp: v.object({ id: v.string(), name: v.pipe(v.string(), v.examples(['Example'])) }),
    user: v.object(texts('id', 'name', 'displayName')),
    challenge: v.string(),
    pubKeyCredParams: v.array(v.object({ type: v.literal('public-key'), alg: v.number() })),
    timeout: v.number(),
    excludeCredentials: v.array(CredentialDescriptor),
    authenticatorSelection: v.object({
      residentKey: v.literal('required'),
      requireResidentKey: v.literal(true),
      userVerification: v.literal('preferred'),
    }),
    hints: v.array(v.string()),
    attestation: v.literal('none'),
  }),
  v.title('PasskeyCreationOptions'),
);

export const RequestOptionsJson = v.pipe(
  v.object({
    rpId: v.string(),
    challenge: v.string(),
    timeout: v.number(),
    userVerification: v.literal('preferred'),
    hints: v.array(v.string()),
    expiresAt: Timestamp,
  }),
  v.title('PasskeyRequestOptions'),
);

export const PendingLoginJson = v.object({
  methods: v.array(v.picklist(['totp', 'recovery-code', 'passkey', 'mail-code'])),
  enrol: v.boolean(),
  expiresAt: Timestamp,
  passkey: v.nullable(RequestOptionsJson),
});
