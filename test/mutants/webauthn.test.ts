import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { simpleWebAuthn } from '../../src/adapters/webauthn/simplewebauthn.ts';
import type { NewCredential, UsedCredential, WebAuthn } from '../../src/application/ports/webauthn.ts';
import { describeWebAuthn } from '../contracts/webauthn.contract.ts';
import { describeMutants } from './harness/describe-mutants.ts';

type Party = Pick<WebAuthn, 'rpId' | 'origins'>;
type Make = (party: Party) => WebAuthn;

const changed =
  (change: (correct: WebAuthn, party: Party) => Partial<WebAuthn>): Make =>
  (party) => {
    const correct = simpleWebAuthn(party);
    return { ...correct, ...change(correct, party) };
  };

/** For a party that the credential itself names. */
const trusting = (partyOf: (clientData: Record<string, unknown>, party: Party) => Party): Make =>
  changed((_correct, party) => {
    const verifier = (credential: Pick<NewCredential | UsedCredential, 'response'>) =>
      simpleWebAuthn(partyOf(clientDataOf(credential), party));
    return {
      verifyNew: (credential, ...given) => verifier(credential).verifyNew(credential, ...given),
      verifyUse: (credential, ...given) => verifier(credential).verifyUse(credential, ...given),
    };
  });

const clientDataOf = ({ response }: Pick<NewCredential | UsedCredential, 'response'>): Record<string, unknown> => {
  try {
    return JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()) ?? {};
  } catch {
    return {};
  }
};

/** With the options of the library that are given. */
const laxly = (options: {
  readonly requireUserPresence?: boolean;
  readonly expectedType?: string[];
  readonly anyParty?: boolean;
}): Make =>
  changed((_correct, { rpId, origins }) => ({
    async verifyNew({ id, response }, challenge) {
      const { anyParty, ...others } = options;
      const json = { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response } as never;
      const verified = await verifyRegistrationResponse({
        response: json,
        expectedChallenge: Buffer.from(challenge).toString('base64url'),
        expectedOrigin: [...origins],
        ...(anyParty === true ? {} : { expectedRPID: rpId }),
        requireUserVerification: false,
        ...others,
      }).catch(() => null);
      if (verified?.registrationInfo === undefined) return null;
      const { credential, aaguid } = verified.registrationInfo;
      return {
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: ['internal'],
        aaguid,
        isSynced: false,
        isBackedUp: false,
      };
    },
  }));

const SAYS = 'returns what the authenticator says of a new passkey';
const SYNCED = 'says whether a passkey is synced, and whether it is backed up';
const ORIGIN = 'rejects an answer that was given to another origin, or in a frame of another site';
const HANDLE = 'rejects a use with the handle of another user, and takes an empty one for none';
const CHANGED = 'rejects a use that another key has signed, or that was changed in any part';
const UNREADABLE = 'rejects what cannot be read';

const mutants: Readonly<Record<string, { readonly make: Make; readonly caughtBy: string }>> = {
  'returns the challenge as the browser has encoded it': {
    make: changed(({ challengeOf }) => ({
      challengeOf: (credential) => {
        const challenge = challengeOf(credential);
        return challenge && Buffer.from(challenge).toString('base64url');
      },
    })),
    caughtBy: 'returns the challenge that a credential answers',
  },
  'accepts its first origin alone': {
    make: changed((_correct, { rpId, origins }) => {
      const { verifyNew } = simpleWebAuthn({ rpId, origins: origins.slice(0, 1) });
      return { verifyNew };
    }),
    caughtBy: SAYS,
  },
  'forgets the model': {
    make: changed(({ verifyNew }) => ({
      verifyNew: async (...given) => {
        const verified = await verifyNew(...given);
        return verified && { ...verified, aaguid: '00000000-0000-0000-0000-000000000000' };
      },
    })),
    caughtBy: SAYS,
  },
  'takes the presence of a user for a verification': {
    make: changed(({ verifyUse }) => ({
      verifyUse: async (...given) => {
        const use = await verifyUse(...given);
        return use && { ...use, isUserVerified: true };
      },
    })),
    caughtBy: 'says whether the authenticator has verified its user',
  },
  'takes a passkey that is synced for one that is backed up': {
    make: changed(({ verifyNew }) => ({
      verifyNew: async (...given) => {
        const verified = await verifyNew(...given);
        return verified && { ...verified, isBackedUp: verified.isSynced };
      },
    })),
    caughtBy: SYNCED,
  },
  'never says that a use is backed up': {
    make: changed(({ verifyUse }) => ({
      verifyUse: async (...given) => {
        const use = await verifyUse(...given);
        return use && { ...use, isBackedUp: false };
      },
    })),
    caughtBy: SYNCED,
  },
  'refuses a counter of zero': {
    make: changed(({ verifyUse }) => ({
      verifyUse: async (...given) => {
        const use = await verifyUse(...given);
        return use?.counter === 0 ? null : use;
      },
    })),
    caughtBy: 'returns the counter of a use, also when it went back',
  },
  'accepts an answer to any challenge': {
    make: changed(({ challengeOf, verifyUse }) => ({
      verifyUse: (credential, _challenge, passkey) => verifyUse(credential, challengeOf(credential) ?? '', passkey),
    })),
    caughtBy: 'rejects an answer to another challenge',
  },
  'trusts the origin that a credential names': {
    make: trusting(({ origin }, { rpId }) => ({ rpId, origins: [String(origin)] })),
    caughtBy: ORIGIN,
  },
  'accepts what begins with an origin of it': {
    make: trusting(({ origin }, party) => ({
      ...party,
      origins: party.origins.some((own) => String(origin).startsWith(own)) ? [String(origin)] : party.origins,
    })),
    caughtBy: ORIGIN,
  },
  'does not look at the relying party': {
    make: laxly({ anyParty: true }),
    caughtBy: 'rejects an answer for another relying party',
  },
  'accepts an answer that no user has given': {
    make: laxly({ requireUserPresence: false }),
    caughtBy: 'rejects an answer without the presence of a user',
  },
  'requires the presence of a user whom nobody has asked': {
    make: changed(({ verifyNew }) => ({
      verifyNew: (credential, challenge) => verifyNew(credential, challenge),
    })),
    caughtBy: 'accepts a new passkey without the presence of a user if the browser has made it without a question',
  },
  'takes a use for a registration': {
    make: laxly({ expectedType: ['webauthn.create', 'webauthn.get'] }),
    caughtBy: 'rejects a registration as a use, and vice versa',
  },
  'accepts any signature': {
    make: changed(({ verifyUse }) => ({
      verifyUse: async (...given) =>
        (await verifyUse(...given)) ?? { counter: 1, isBackedUp: false, isUserVerified: false },
    })),
    caughtBy: CHANGED,
  },
  'does not look at the handle': {
    make: changed(({ verifyUse }) => ({
      verifyUse: (credential, challenge, passkey) =>
        verifyUse(credential, challenge, { ...passkey, userHandle: credential.response.userHandle ?? '' }),
    })),
    caughtBy: HANDLE,
  },
  'needs a handle': {
    make: changed(({ verifyUse }) => ({
      verifyUse: async (...given) => (given[0].response.userHandle === undefined ? null : verifyUse(...given)),
    })),
    caughtBy: HANDLE,
  },
  'stores a credential under the id that it is sent with': {
    make: laxly({}),
    caughtBy: 'rejects a new credential under another id than that of its authenticator',
  },
  'takes an empty handle for one': {
    make: changed(({ verifyUse }) => ({
      verifyUse: async (...given) => (given[0].response.userHandle === '' ? null : verifyUse(...given)),
    })),
    caughtBy: HANDLE,
  },
  'refuses an attestation with certificates': {
    make: changed(({ verifyNew }) => ({
      verifyNew: async (...given) => {
        const attestation = Buffer.from(given[0].response.attestationObject, 'base64url').toString('latin1');
        return attestation.includes('x5c') ? null : verifyNew(...given);
      },
    })),
    caughtBy: 'ignores the statement of an attestation, which nobody asked for',
  },
  'says of what it cannot read that it is empty': {
    make: changed(({ challengeOf }) => ({ challengeOf: (credential) => challengeOf(credential) ?? '' })),
    caughtBy: UNREADABLE,
  },
};

describeWebAuthn('the correct verification', simpleWebAuthn);

describeMutants((make: Make, suite) => describeWebAuthn('a mutant', make, suite), mutants);
