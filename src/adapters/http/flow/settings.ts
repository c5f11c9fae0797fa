import { isStarted, type PageFacts, startedApp } from '../forms/page-facts.ts';
import { AT_PROVIDER, BY_CODE, CODES, hasCodes, hasPasskeys, ownText, type PageTable } from './rows.ts';

const mayConfirmByCode = ({ passwords }: PageFacts): boolean => passwords === 'optional';

/** The password confirms a change; with PASSWORDS=optional, a code may do so, and does so without a password. */
const CONFIRMED = {
  password: (facts: PageFacts) => (mayConfirmByCode(facts) && !hasPassword(facts) ? 'left-out' : facts.passwords),
  code: (facts: PageFacts) => (!mayConfirmByCode(facts) ? 'left-out' : hasPassword(facts) ? 'optional' : 'required'),
} as const;

type Facts = Pick<PageFacts, 'payloads'>;
const hasPassword = ({ payloads }: Facts): boolean => payloads['current-user']?.hasPassword === true;
/** Whether a change of factors lacks a step-up. */
const isLocked = ({ payloads }: Facts): boolean => payloads['current-user']?.missing !== null;
/** Forms with a password need the second factor alone. */
const lacksFactor = ({ payloads }: Facts): boolean => payloads['current-user']?.missing?.acr !== undefined;
/** It comes first. A visitor who lacks nothing may show anything. */
const asksFactor = (facts: Facts): boolean =>
  facts.payloads['current-user']?.secondFactor === true && (lacksFactor(facts) || !isLocked(facts));
/** Whether another log-in helps, which takes both: not where the second factor alone is missing. */
const asksOther = (facts: Facts): boolean =>
  !lacksFactor(facts) || facts.payloads['current-user']?.missing?.maxAge !== undefined;
/** The form to which a step-up leads back, and what was typed there. */
const kept = ({ state }: PageFacts) => state?.typed ?? {};
const STEP_UP = { submits: 'step-up', leadsTo: 'target', initial: kept } as const;

/** Mails that code. */
const CONFIRMATION = {
  ...{ submits: 'request-confirmation-code', fields: [], notice: 'confirmation-code' },
  offered: mayConfirmByCode,
} as const;

export const hasAddedPasskey = ({ state }: Pick<PageFacts, 'state'>): boolean =>
  state?.form === 'passkey' && state.error === undefined;
const hasApps = ({ payloads }: PageFacts): boolean => (payloads.factors?.totp.length ?? 0) > 0;

const ENDED = { leadsTo: 'account', notice: 'ended' } as const;
const SAVED = { leadsTo: 'account', notice: 'saved', foldedBehind: 'change' } as const;
const SAVED_FACTOR = { leadsTo: 'factors', notice: 'saved' } as const;
const REMOVED_FACTOR = { fields: [], leadsTo: 'factors', notice: 'removed' } as const;

/** The pages of the account, and the log-out. */
export const SETTINGS = {
  account: {
    path: '/auth/account',
    for: 'visitor',
    shows: ['current-user', 'sessions', 'passkey-options'],
    forms: {
      username: {
        ...{ submits: 'change-username', fields: ['username'], ...SAVED, initial: ownText('username') },
        ...{ renames: true, locked: isLocked },
      },
      email: {
        ...{ submits: 'change-email', fields: ['email', 'password', 'code'], ...SAVED, notice: 'email' },
        ...{ requirements: CONFIRMED, initial: ownText('email'), locked: lacksFactor },
      },
      'confirmation-code': { ...CONFIRMATION, leadsTo: 'account', buttonOf: 'email', keeps: ['email'] },
      password: {
        ...{ submits: 'change-password', fields: ['currentPassword', 'newPassword'], ...SAVED, notice: 'password' },
        ...{ offered: hasPassword, locked: lacksFactor },
      },
      language: { submits: 'change-current-user', fields: ['locale'], ...SAVED, initial: ownText('locale') },
      session: { submits: 'end-session', fields: [], ...ENDED },
      sessions: { submits: 'end-sessions', fields: [], ...ENDED, initial: () => ({ except: 'current' }) },
    },
  },
  factors: {
    ...{ path: '/auth/account/factors', for: 'visitor', stepUp: true },
    shows: ['current-user', 'factors', 'passkey-options', 'identities'],
    forms: {
      /** The page asks for the name of the passkey afterwards. */
      passkey: { submits: 'add-passkey', fields: ['credential'], ...SAVED_FACTOR, notice: 'passkey', shows: CODES },
      'rename-passkey': { submits: 'rename-passkey', fields: ['name'], foldedBehind: 'rename', ...SAVED_FACTOR },
      'remove-passkey': {
        ...{ submits: 'remove-passkey', ...REMOVED_FACTOR },
        shows: { member: 'allAcceptedCredentialIds', on: 'factors' },
      },
      'start-app': {
        ...{ submits: 'start-totp', fields: [] },
        leadsTo: 'factors',
        shows: { member: 'secret', on: 'factors' },
        offered: (facts) => !isStarted(facts) && !hasApps(facts),
      },
      app: {
        ...{ submits: 'confirm-totp', fields: ['code'], ...SAVED_FACTOR },
        shows: CODES,
        ...{ offered: isStarted, initial: startedApp },
      },
      'remove-app': { submits: 'remove-factor', ...REMOVED_FACTOR },
      'recovery-codes': {
        ...{ submits: 'make-recovery-codes', fields: [] },
        leadsTo: 'factors',
        shows: CODES,
        offered: (facts) => hasApps(facts) || (facts.payloads.factors?.recoveryCodes ?? 0) > 0,
      },
      link: { ...AT_PROVIDER, submits: 'start-link-at-provider', returns: true },
      unlink: { submits: 'unlink-identity', ...REMOVED_FACTOR },
    },
  },
  history: { path: '/auth/account/history', for: 'visitor', shows: ['current-user', 'events'], forms: {} },
  delete: {
    path: '/auth/account/delete',
    for: 'visitor',
    shows: ['current-user'],
    forms: {
      delete: {
        ...{ submits: 'delete-account', fields: ['password', 'code'], requirements: CONFIRMED },
        ...{ notice: 'deleted', locked: lacksFactor },
        leadsTo: 'log-in',
        offered: (facts) => mayConfirmByCode(facts) || hasPassword(facts),
      },
      'confirmation-code': { ...CONFIRMATION, leadsTo: 'delete', buttonOf: 'delete' },
    },
  },
  'step-up': {
    path: '/auth/step-up',
    for: 'visitor',
    shows: ['current-user', 'identities'],
    forms: {
      'step-up': { ...STEP_UP, fields: ['password'], offered: (facts) => hasPassword(facts) && !lacksFactor(facts) },
      code: { ...STEP_UP, fields: ['code'], offered: asksFactor },
      recovery: { ...STEP_UP, fields: ['recoveryCode'], foldedBehind: 'another-way', offered: asksFactor },
      passkey: { ...STEP_UP, fields: ['credential'], offered: hasPasskeys },
      /** Users without a password log in again. */
      provider: { ...AT_PROVIDER, linkedOnly: true, offered: asksOther },
      'mail-code': {
        ...{ ...BY_CODE, fields: [], initial: ownText('username', 'account') },
        offered: (facts) => hasCodes(facts) && asksOther(facts),
      },
    },
  },
  'log-out': {
    path: '/auth/log-out',
    forms: {
      'log-out': {
        ...{ submits: 'clear-cookie', fields: [] },
        leadsTo: 'target',
        otherwise: 'log-in',
        ...{ notice: 'logged-out', mark: 'logged-out' },
      },
    },
  },
} as const satisfies PageTable;
