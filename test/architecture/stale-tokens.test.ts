import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT, readText } from '../support/checkout/repository.ts';

/*
 * ADR 0057: `tokenStatus` alone decides what a stale token of a session means. Whatever else knows the tokens of a session only stores or
 * compares and swaps them.
 */

type Sources = ReadonlyMap<string, string>;

const SOURCES: Sources = new Map(
  readdirSync(`${ROOT}src`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, readText(`src/${file}`)] as const)
    .map(([file, text]) => [file, text.replaceAll(/\/\*[\s\S]*?\*\/|^ *\/\/.*$/gm, '')]),
);

/** What a place has in its text that decides, and the files that may have it. */
const DECISIONS: Readonly<Record<string, { readonly sign: RegExp; readonly files: readonly string[] }>> = {
  'judges a token of a session': {
    sign: /\btokenStatus\(|\bimport\b[^;]*\btokenStatus\b/,
    files: ['application/sessions/assess-tokens.ts'],
  },
  'asks for the statuses of tokens': {
    sign: /\bassessTokens\(/,
    files: [
      'application/accounts/verify-email.ts',
      'application/sessions/end-sessions.ts',
      'application/sessions/continue-navigation.ts',
      'application/sessions/manage-sessions.ts',
      'application/sessions/mint-access-token.ts',
      'application/sessions/refresh.ts',
    ],
  },
  'compares a token with those of its session': {
    sign: /(?:TokenId|\bjti|\brotation|\brunFirst)\b *(?:[!=]==|[<>]=?) |(?:[!=]==|[<>]=?) *(?:\w+\.)*(?:\w*TokenId|jti|rotation|runFirst)\b/,
    files: ['domain/session.ts', 'domain/tokens.ts'],
  },
  'reads which tokens a session had': {
    sign: /\b(?:previousTokenId|runStartedAt|runFirst)\b/,
    files: ['adapters/records/tables.ts', 'domain/session.ts', 'domain/tokens.ts'],
  },
  'judges whether a device is proven': {
    sign: /\bdeviceStatus\(/,
    files: ['domain/device-binding.ts', 'domain/session.ts', 'domain/tokens.ts'],
  },
  'asks whether a session needs a proof': {
    sign: /\bneedsProof\(/,
    files: ['application/sessions/manage-sessions.ts', 'application/sessions/refresh.ts'],
  },
  'verifies a proof': { sign: /\bproofs\.verify\(/, files: ['application/sessions/prove-device.ts'] },
  'refuses for want of a proof': {
    sign: /AppError\(\s*'AUTH_(?:DEVICE_UNPROVEN|PROOF_EXPIRED)'/,
    files: ['application/sessions/prove-device.ts'],
  },
  'ends a session as replayed': {
    sign: /reason: [^;]*'token-replayed'/,
    files: ['application/sessions/end-sessions.ts', 'application/sessions/refresh.ts'],
  },
};

/** The files with a sign, in their order. */
const filesWith = (sources: Sources, sign: RegExp): string[] =>
  [...sources].flatMap(([file, text]) => (sign.test(text) ? [file] : [])).toSorted();

/** Code that decides for itself, as somebody might write it. */
const INTRUDERS: Readonly<Record<keyof typeof DECISIONS, readonly string[]>> = {
  'judges a token of a session': [
    "import { tokenStatus } from '../../domain/tokens.ts';",
    'if (tokenStatus(session, token, context) === "reused") end(session);',
  ],
  'asks for the statuses of tokens': ['const [assessed] = await assessTokens(deps, verified);'],
  'compares a token with those of its session': [
    'if (session.currentTokenId !== token.claims.jti) throw failed();',
    'const isOld = token.rotation < session.rotation;',
    'if (claims.jti === session.currentTokenId) return;',
    'if (number <= session.rotation) return;',
  ],
  'reads which tokens a session had': ['const isPrevious = [session.previousTokenId].includes(jti);'],
  'judges whether a device is proven': ["if (deviceStatus(session, evidence) === 'proven') return;"],
  'asks whether a session needs a proof': ['if (needsProof(session, evidence)) return;'],
  'verifies a proof': ['const outcome = await deps.proofs.verify(text, target, now);'],
  'refuses for want of a proof': ["throw new AppError('AUTH_DEVICE_UNPROVEN');"],
  'ends a session as replayed': ["await endSession(deps, stores, session, { reason: 'token-replayed', origin });"],
};

describe.each(Object.entries(DECISIONS))('what %s', (what, { sign, files }) => {
  it('is in no other place', () => {
    expect(filesWith(SOURCES, sign)).toEqual([...files]);
  });

  it('is seen when another place does', () => {
    for (const text of INTRUDERS[what] ?? expect.unreachable()) {
      const intruder = 'application/sessions/logout.ts';
      const sources = new Map([...SOURCES, [intruder, `${SOURCES.get(intruder)}\n${text}\n`]]);
      expect(filesWith(sources, sign), text).toContain(intruder);
    }
  });
});
