import { AuthError } from './auth-error.ts';
import { ignore } from './host.ts';
import type * as Api from './types.ts';

type Mediation = 'conditional' | 'optional';
type Signal = (details: Readonly<Record<string, string>>) => Promise<void>;
type Prompt = {
  readonly publicKey: unknown;
  readonly mediation?: Mediation;
  readonly uiMode?: 'immediate';
  readonly signal: AbortSignal;
};
type Created<Json> = { readonly toJSON: () => Json } | null;

/** The interfaces of browsers for passkeys (WebAuthn Level 3). Older browsers lack the optional members. */
type WebAuthn = {
  readonly PublicKeyCredential?: {
    readonly parseCreationOptionsFromJSON: (options: Api.PasskeyCreationOptions) => unknown;
    readonly parseRequestOptionsFromJSON: (options: Api.PasskeyRequestOptions) => unknown;
    readonly isConditionalMediationAvailable?: () => Promise<boolean>;
    readonly isUserVerifyingPlatformAuthenticatorAvailable?: () => Promise<boolean>;
    readonly getClientCapabilities?: () => Promise<Readonly<Record<string, boolean>>>;
    readonly signalAllAcceptedCredentials?: (accepted: Api.AcceptedPasskeys) => Promise<void>;
    readonly signalUnknownCredential?: Signal;
    readonly signalCurrentUserDetails?: Signal;
  };
  readonly navigator: {
    readonly credentials: {
      readonly create: (prompt: Prompt) => Promise<Created<Api.NewPasskeyCredential>>;
      readonly get: (prompt: Prompt) => Promise<Created<Api.PasskeyCredential>>;
    };
  };
};

const host = globalThis as unknown as WebAuthn;
/** `undefined` in a page that is no secure context, or in an old browser that lacks members that the client uses. */
const passkeys = () => {
  const { PublicKeyCredential: all } = host;
  return all?.parseRequestOptionsFromJSON ? all : undefined;
};

export const isAvailable = (): boolean => !!passkeys();
export const canAutofill = async (): Promise<boolean> => !!(await passkeys()?.isConditionalMediationAvailable?.());
/** Whether the device itself can make a passkey, which a finger or a PIN unlocks. */
export const canMake = async (): Promise<boolean> =>
  !!(await passkeys()?.isUserVerifyingPlatformAuthenticatorAvailable?.());
export const can = async (capability: 'conditionalCreate' | 'immediateGet'): Promise<boolean> =>
  !!(await passkeys()?.getClientCapabilities?.())?.[capability];

/** @throws AuthError CLIENT_PASSKEY_REFUSED; the reason of the signal */
const promptFor = async <Json>(signal: AbortSignal, prompt: () => Promise<Created<Json>>): Promise<Json> => {
  try {
    return ((await prompt()) as { readonly toJSON: () => Json }).toJSON();
  } catch (cause) {
    signal.throwIfAborted();
    throw new AuthError('CLIENT_PASSKEY_REFUSED', `No passkey: ${cause}`, { cause });
  }
};

export const create = (options: Api.PasskeyCreationOptions, signal: AbortSignal, mediation: Mediation = 'optional') =>
  promptFor(signal, async () =>
    host.navigator.credentials.create({
      publicKey: passkeys()?.parseCreationOptionsFromJSON(options),
      mediation,
      signal,
    }),
  );

export const get = (
  options: Api.PasskeyRequestOptions,
  signal: AbortSignal,
  mode: Pick<Prompt, 'mediation' | 'uiMode'> = {},
) =>
  promptFor(signal, async () =>
    host.navigator.credentials.get({ publicKey: passkeys()?.parseRequestOptionsFromJSON(options), ...mode, signal }),
  );

/** Asks the browser to forget all other passkeys. A page cannot see whether the browser does. */
export const signalAccepted = (accepted: Api.AcceptedPasskeys) =>
  passkeys()?.signalAllAcceptedCredentials?.(accepted).catch(ignore);
export const signalUnknown = (rpId: string, credentialId: string) =>
  passkeys()?.signalUnknownCredential?.({ rpId, credentialId }).catch(ignore);
export const signalUser = ({ rp, user: { id, ...names } }: Pick<Api.PasskeyCreationOptions, 'rp' | 'user'>) =>
  passkeys()
    ?.signalCurrentUserDetails?.({ rpId: rp.id, userId: id, ...names })
    .catch(ignore);
