import { hasStartedApp, type PageFacts, startedApp } from '../forms/page-facts.ts';
import { hasPasskeys, LOGIN_CODE_FORM, type PageTable, PROVIDER_FORM, RECOVERY_CODES, storedText } from './rows.ts';

const mayConfirmByCode = ({ passwords }: PageFacts): boolean => passwords === 'optional';

/** Whether a form needs the password or a code by mail. With PASSWORDS=optional, either is enough, and users without a password need the code. */
const CONFIRMATION_REQUIREMENTS = {
  password: (facts: PageFacts) => (mayConfirmByCode(facts) && !hasPassword(facts) ? 'left-out' : facts.passwords),
  code: (facts: PageFacts) => (!mayConfirmByCode(facts) ? 'left-out' : hasPassword(facts) ? 'optional' : 'required'),
} as const;

type UserFacts = Pick<PageFacts, 'payloads'>;
const hasPassword = ({ payloads }: UserFacts): boolean => payloads['current-user']?.hasPassword === true;
/** Whether the session lacks the step-up that a change of factors requires. */
const lacksStepUp = ({ payloads }: UserFacts): boolean => payloads['current-user']?.missing !== null;
/** Whether the step-up that the session lacks includes a second factor. A form with a password or a mailed code requires only this (`WITH_PASSWORD`). */
const lacksFactor = ({ payloads }: UserFacts): boolean => payloads['current-user']?.missing?.acr !== undefined;
/** Whether the step-up page asks for the user's second factor: if the session lacks it, or lacks nothing, so that any factor will do. */
const asksForFactor = (facts: UserFacts): boolean =>
  facts.payloads['current-user']?.secondFactor === true && (lacksFactor(facts) || !lacksStepUp(facts));
/** Whether the step-up page offers a log-in by a provider or a mail. Neither is a second factor. */
const offersLogin = (facts: UserFacts): boolean =>
  !lacksFactor(facts) || facts.payloads['current-user']?.missing?.maxAge !== undefined;

/** The form to which a step-up leads back, and what the user has typed there. */
const resumedForm = ({ state }: PageFacts) => state?.typed ?? {};
const STEP_UP = { submits: 'step-up', leadsTo: 'target', defaults: resumedForm } as const;

const CONFIRMATION_CODE_FORM = {
  ...{ submits: 'request-confirmation-code', fields: [], notice: 'confirmation-code' },
  isOffered: mayConfirmByCode,
} as const;

export const hasAddedPasskey = ({ state }: Pick<PageFacts, 'state'>): boolean =>
  state?.form === 'passkey' && state.error === undefined;
const hasApps = ({ payloads }: PageFacts): boolean => (payloads.factors?.totp.length ?? 0) > 0;

const SESSION_FORM = { leadsTo: 'account', notice: 'ended' } as const;
const SETTING_FORM = { leadsTo: 'account', notice: 'saved', foldedBehind: 'change' } as const;
const FACTOR_FORM = { leadsTo: 'factors', notice: 'saved' } as const;
const FACTOR_REMOVAL_FORM = { fields: [], leadsTo: 'factors', notice: 'removed' } as const;

export const SETTINGS_PAGES = {
  account: {
    path: '/auth/account',
    audience: 'visitor',
    shows: ['current-user', 'sessions', 'passkey-options'],
    forms: {
      username: {
        ...{ submits: 'change-username', fields: ['username'], ...SETTING_FORM, defaults: storedText('username') },
        ...{ renamesUser: true, isLocked: lacksStepUp },
      },
      email: {
        ...{ submits: 'change-email', fields: ['email', 'password', 'code'], ...SETTING_FORM, notice: 'email' },
        ...{ requirements: CONFIRMATION_REQUIREMENTS, defaults: storedText('email'), isLocked: lacksFactor },
      },
      'confirmation-code': { ...CONFIRMATION_CODE_FORM, leadsTo: 'account', buttonOf: 'email', keptFields: ['email'] },
      password: {
        ...{ submits: 'change-password', fields: ['currentPassword', 'newPassword'], ...SETTING_FORM },
        ...{ notice: 'password', isOffered: hasPassword, isLocked: lacksFactor },
      },
      language: { submits: 'change-current-user', fields: ['locale'], ...SETTING_FORM, defaults: storedText('locale') },
      session: { submits: 'end-session', fields: [], ...SESSION_FORM },
      sessions: { submits: 'end-sessions', fields: [], ...SESSION_FORM, defaults: () => ({ except: 'current' }) },
    },
  },
  factors: {
    ...{ path: '/auth/account/factors', audience: 'visitor', stepUp: true },
    shows: ['current-user', 'factors', 'passkey-options', 'identities'],
    forms: {
      /** After a success without recovery codes, the page asks for a name of the passkey. */
      passkey: {
        ...{ submits: 'add-passkey', fields: ['credential'], ...FACTOR_FORM },
        ...{ notice: 'passkey', showsOnce: RECOVERY_CODES },
      },
      'rename-passkey': { submits: 'rename-passkey', fields: ['name'], foldedBehind: 'rename', ...FACTOR_FORM },
      'remove-passkey': {
        ...{ submits: 'remove-passkey', ...FACTOR_REMOVAL_FORM },
        showsOnce: { member: 'allAcceptedCredentialIds', on: 'factors' },
      },
      'start-app': {
        ...{ submits: 'start-totp', fields: [] },
        leadsTo: 'factors',
        showsOnce: { member: 'secret', on: 'factors' },
        isOffered: (facts) => !hasStartedApp(facts) && !hasApps(facts),
      },
      app: {
        ...{ submits: 'confirm-totp', fields: ['code'], ...FACTOR_FORM },
        showsOnce: RECOVERY_CODES,
        ...{ isOffered: hasStartedApp, defaults: startedApp },
      },
      'remove-app': { submits: 'remove-factor', ...FACTOR_REMOVAL_FORM },
      'recovery-codes': {
        ...{ submits: 'make-recovery-codes', fields: [] },
        leadsTo: 'factors',
        showsOnce: RECOVERY_CODES,
        isOffered: (facts) => hasApps(facts) || (facts.payloads.factors?.recoveryCodes ?? 0) > 0,
      },
      link: { ...PROVIDER_FORM, submits: 'start-link-at-provider', returnsToPage: true },
      unlink: { submits: 'unlink-identity', ...FACTOR_REMOVAL_FORM },
    },
  },
  history: { path: '/auth/account/history', audience: 'visitor', shows: ['current-user', 'events'], forms: {} },
  delete: {
    path: '/auth/account/delete',
    audience: 'visitor',
    shows: ['current-user'],
    forms: {
      delete: {
        ...{ submits: 'delete-account', fields: ['password', 'code'], requirements: CONFIRMATION_REQUIREMENTS },
        ...{ notice: 'deleted', isLocked: lacksFactor },
        leadsTo: 'log-in',
        isOffered: (facts) => mayConfirmByCode(facts) || hasPassword(facts),
      },
      'confirmation-code': { ...CONFIRMATION_CODE_FORM, leadsTo: 'delete', buttonOf: 'delete' },
    },
  },
  'step-up': {
    path: '/auth/step-up',
    audience: 'visitor',
    shows: ['current-user', 'identities'],
    forms: {
      'step-up': { ...STEP_UP, fields: ['password'], isOffered: (facts) => hasPassword(facts) && !lacksFactor(facts) },
      code: { ...STEP_UP, fields: ['code'], isOffered: asksForFactor },
      recovery: { ...STEP_UP, fields: ['recoveryCode'], foldedBehind: 'another-way', isOffered: asksForFactor },
      passkey: { ...STEP_UP, fields: ['credential'], isOffered: hasPasskeys },
      /** A log-in at a linked provider can take the place of the step-up, for example for users without a password. */
      provider: { ...PROVIDER_FORM, linkedOnly: true, isOffered: offersLogin },
      'mail-code': {
        ...{ ...LOGIN_CODE_FORM, fields: [] },
        defaults: (facts) => ({ ...resumedForm(facts), ...storedText('username', 'account')(facts) }),
        isOffered: (facts) => LOGIN_CODE_FORM.isOffered(facts) && offersLogin(facts),
      },
    },
  },
  'log-out': {
    path: '/auth/log-out',
    forms: {
      'log-out': {
        ...{ submits: 'clear-cookie', fields: [] },
        leadsTo: 'target',
        withoutTarget: 'log-in',
        ...{ notice: 'logged-out', mark: 'logged-out' },
      },
    },
  },
} as const satisfies PageTable;
