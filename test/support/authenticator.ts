import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

type CBORType = Parameters<typeof isoCBOR.encode>[0];

/** Properties of a simulated authenticator and its browser, with which tests also make them misbehave. */
export type AuthenticatorOptions = {
  readonly rpId?: string;
  readonly origin?: string;
  readonly isUserPresent?: boolean;
  readonly isUserVerified?: boolean;
  readonly isSynced?: boolean;
  readonly isBackedUp?: boolean;
  readonly crossOrigin?: boolean;
  readonly aaguid?: string;
  /** The signature counter. By default, it counts uses from 1. */
  readonly counter?: number;
  /** The member `type` of the client data. */
  readonly type?: string;
  readonly key?: KeyObject;
  readonly userHandle?: string;
  readonly attestation?: { readonly format: string; readonly statement: Map<string, CBORType> };
};

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

const cbor = (value: CBORType): Buffer => Buffer.from(isoCBOR.encode(value));
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64url'));

/** Encodes a key of ES256 or Ed25519 as a COSE key (RFC 9053 §7). */
export const coseKey = (key: KeyObject): Buffer => {
  const { kty, x = '', y = '' } = key.export({ format: 'jwk' });
  const ofCurve = [-2, bytesOf(x)] as const;
  if (kty === 'OKP') return cbor(new Map<number, CBORType>([[1, 1], [3, -8], [-1, 6], ofCurve]));
  return cbor(new Map<number, CBORType>([[1, 2], [3, -7], [-1, 1], ofCurve, [-3, bytesOf(y)]]));
};

/** The parts of the options of a browser that an authenticator reads. */
type Options = { readonly challenge: string; readonly user?: { readonly id: string } | undefined };

/**
 * A security key, and the browser that speaks to it (WebAuthn Level 3 §6). It has one passkey.
 *
 * @example
 * const key = authenticator({ origin: 'https://app.example.org', rpId: 'example.org' });
 * const credential = key.create(options);
 */
export const authenticator = (usually: AuthenticatorOptions = {}) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  let uses = 0;
  let handle = '';

  const authenticatorData = (given: AuthenticatorOptions, attested = Buffer.alloc(0)): Buffer => {
    const {
      rpId = 'localhost',
      isUserPresent = true,
      isUserVerified = true,
      isSynced = false,
      isBackedUp = false,
    } = given;
    uses += 1;
    const flags = [isUserPresent, false, isUserVerified, isSynced, isBackedUp, false, attested.length > 0];
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(given.counter ?? uses);
    const bits = flags.reduce((sum, flag, bit) => sum + (flag ? 1 << bit : 0), 0);
    return Buffer.concat([sha256(rpId), Buffer.from([bits]), counter, attested]);
  };

  const clientData = (type: string, { challenge }: Options, given: AuthenticatorOptions): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: given.type ?? type,
        challenge,
        origin: given.origin ?? 'http://localhost:3000',
        crossOrigin: given.crossOrigin ?? false,
      }),
    );

  const credential = <Response>(response: Response) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key' as const,
    clientExtensionResults: {},
    response,
  });

  return {
    id: id.toString('base64url'),
    privateKey,
    /** Answers the options of a registration, as `navigator.credentials.create` does. */
    create(options: Options, instead: AuthenticatorOptions = {}) {
      const given = { ...usually, ...instead };
      handle = options.user?.id ?? '';
      const aaguid = Buffer.from((given.aaguid ?? '').replaceAll('-', '').padEnd(32, '0'), 'hex');
      const attested = Buffer.concat([aaguid, Buffer.from([0, id.length]), id, coseKey(publicKey)]);
      const { format, statement } = given.attestation ?? { format: 'none', statement: new Map() };
      const authData = Uint8Array.from(authenticatorData(given, attested));
      const attestationObject = cbor(
        new Map<string, CBORType>([
          ['fmt', format],
          ['attStmt', statement],
          ['authData', authData],
        ]),
      );
      return credential({
        clientDataJSON: clientData('webauthn.create', options, given).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      });
    },
    /** Answers the options of a log-in, as `navigator.credentials.get` does. */
    get(options: Options, instead: AuthenticatorOptions = {}) {
      const given = { ...usually, ...instead };
      const [data, client] = [authenticatorData(given), clientData('webauthn.get', options, given)];
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), given.key ?? privateKey);
      return credential({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: given.userHandle ?? handle,
      });
    },
  };
};

export type Authenticator = ReturnType<typeof authenticator>;
