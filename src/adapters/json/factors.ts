import * as v from 'valibot';
import { Timestamp } from './public-user.ts';

export const EXAMPLE_CREDENTIAL_ID = 'kXcRVNQPbXQGmWYbzXTbwA';
export const EXAMPLE_HANDLE = 'Zk3cO4nJ1xqk0m7h5v8s2r6t9w1y3u5i7o9p2a4d6fg';

const EXAMPLE_PASSKEY = {
  id: '01M805M0DQRNB7PKSRES70K5MB',
  credentialId: EXAMPLE_CREDENTIAL_ID,
  name: 'Key ring',
  aaguid: '00000000-0000-0000-0000-000000000000',
  synced: false,
  backedUp: false,
  createdAt: '2026-11-21T23:03:48.407Z',
  lastUsedAt: null,
};

export const PasskeyJson = v.pipe(
  v.object({
    id: v.string(),
    credentialId: v.string(),
    name: v.string(),
    aaguid: v.string(),
    synced: v.boolean(),
    backedUp: v.boolean(),
    createdAt: Timestamp,
    lastUsedAt: v.nullable(Timestamp),
  }),
  v.title('Passkey'),
  v.examples([EXAMPLE_PASSKEY]),
);

/** With recovery codes for a user who has nothing else. */
export const AddedPasskeyJson = v.pipe(
  v.object({ ...PasskeyJson.entries, recoveryCodes: v.optional(v.array(v.string())) }),
  v.examples([EXAMPLE_PASSKEY]),
);

export const FactorsJson = v.pipe(
  v.object({
    passkeys: v.array(PasskeyJson),
    totp: v.array(v.object({ id: v.string(), createdAt: Timestamp })),
    recoveryCodes: v.number(),
  }),
  v.examples([
    {
      passkeys: [],
      totp: [{ id: '01M805M0DQRNB7PKSRES70K5MB', createdAt: '2026-11-21T23:03:48.407Z' }],
      recoveryCodes: 10,
    },
  ]),
);

export const StartedAppJson = v.pipe(
  v.object({ id: v.string(), secret: v.string(), uri: v.string(), qr: v.string() }),
  v.examples([
    {
      id: '01M805M0DQRNB7PKSRES70K5MB',
      secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
      uri: 'otpauth://totp/auth.example.org:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=auth.example.org&algorithm=SHA1&digits=6&period=30',
      qr: '<svg xmlns="http://www.w3.org/2000/svg">…</svg>',
    },
  ]),
);

const EXAMPLE_CHALLENGE = 'Li5taXZqNWUuMDFNODA1TTBEUVJOQjdQS1NSRVM3MEs1TUIu';

const Descriptor = v.object({
  type: v.literal('public-key'),
  id: v.string(),
  transports: v.optional(v.array(v.string())),
});

export const CreationOptionsJson = v.pipe(
  v.object({
    rp: v.object({ id: v.string(), name: v.string() }),
    user: v.object({ id: v.string(), name: v.string(), displayName: v.string() }),
    challenge: v.string(),
    pubKeyCredParams: v.array(v.object({ type: v.literal('public-key'), alg: v.number() })),
    timeout: v.number(),
    excludeCredentials: v.array(Descriptor),
    authenticatorSelection: v.object({
      residentKey: v.literal('required'),
      requireResidentKey: v.literal(true),
      userVerification: v.literal('preferred'),
    }),
    hints: v.array(v.string()),
    attestation: v.literal('none'),
  }),
  v.title('PasskeyCreationOptions'),
  v.examples([
    {
      rp: { id: 'example.org', name: 'Example' },
      user: { id: EXAMPLE_HANDLE, name: 'ada', displayName: 'ada' },
      challenge: EXAMPLE_CHALLENGE,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      timeout: 300_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'preferred' },
      hints: ['client-device', 'hybrid'],
      attestation: 'none',
    },
  ]),
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
  v.examples([
    {
      rpId: 'example.org',
      challenge: EXAMPLE_CHALLENGE,
      timeout: 300_000,
      userVerification: 'preferred',
      hints: ['client-device', 'hybrid'],
      expiresAt: '2026-11-21T23:13:48.407Z',
    },
  ]),
);

export const PendingLoginJson = v.object({
  methods: v.array(v.picklist(['totp', 'recovery-code', 'passkey', 'mail-code'])),
  enrol: v.boolean(),
  expiresAt: Timestamp,
  passkey: v.nullable(RequestOptionsJson),
});
