import type { Device } from '../../domain/event.ts';
import type { MessageKind } from '../../domain/message.ts';
import {
  durationText,
  type MailContext,
  type MailText,
  mailLayout,
  type Prose,
  prose,
  resetPage,
  timeText,
  trusted,
} from './layout.ts';

type TimeAndDevice = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly device: Device;
};

/** The device and the network are shown to the owner. The client chose the user agent, so it is not trusted. */
const factsOf = ({ at, device: { userAgent, address } }: TimeAndDevice) => ({
  facts: [
    ['Time', prose`${trusted(timeText(at))}`],
    ['Device', userAgent === null ? prose`unknown` : prose`"${userAgent}"`],
    ['Network', prose`${trusted(address ?? 'unknown')}`],
  ] as const,
});

const NOTHING_TO_DO = prose`If it was you, you have nothing to do.`;

/** What happened to an account, and what its owner should do. */
type NoticeTexts = {
  readonly subject: string;
  readonly what: Prose;
  /** By default `NOTHING_TO_DO`. */
  readonly ifItWasYou?: Prose;
  /** Before the link to the page that resets the password. */
  readonly otherwise: Prose;
};

export const noticeMail = (context: MailContext, kind: NoticeKind, happened: TimeAndDevice): MailText => {
  const texts: NoticeTexts = NOTICE_TEXTS[kind](trusted(context.serviceName));
  const { subject, what, ifItWasYou = NOTHING_TO_DO, otherwise } = texts;
  return mailLayout(context, subject, [what, factsOf(happened), ifItWasYou, otherwise, resetPage(context)]);
};

export type NoticeKind = keyof typeof NOTICE_TEXTS;

export const NOTICE_TEXTS = {
  'password-changed': (service) => ({
    subject: `Your password at ${service.text} was changed`,
    what: prose`The password of your account at ${service} was changed.`,
    otherwise: prose`If it was not you, somebody else knows your password and has replaced it. Reset the password now, which logs out all devices:`,
  }),
  'new-device': (service) => ({
    subject: `A log-in on a new device at ${service.text}`,
    what: prose`Somebody logged in to your account at ${service} on a device that we have not seen before.`,
    otherwise: prose`If it was not you, somebody else knows your password. Reset it now, which logs out all devices:`,
  }),
  'token-replayed': (service) => ({
    subject: `A session at ${service.text} was ended for your protection`,
    what: prose`A session of your account at ${service} was ended, because its token was used a second time. That happens when a connection was lost while the session was renewed, and when a token was copied from the device.`,
    ifItWasYou: prose`If this is your device and your connection was bad, or you restored a backup, log in again: you have nothing else to do.`,
    otherwise: prose`If not, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then reset your password, which logs out all devices:`,
  }),
  'device-unproven': (service) => ({
    subject: `A request without your device was refused at ${service.text}`,
    what: prose`Somebody tried to renew a session of your account at ${service} without the key of the device that it was opened on. This was refused, and the session continues. It happens when the data of a website was deleted in the browser, and when a cookie was copied from the device.`,
    ifItWasYou: prose`If this is your device, log in again there: you have nothing else to do.`,
    otherwise: prose`If not, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then reset your password, which logs out all devices:`,
  }),
  'passkey-added': (service) => ({
    subject: `A passkey was added to your account at ${service.text}`,
    what: prose`A passkey was added to your account at ${service}. Its device can now log in without the password.`,
    otherwise: prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and remove the passkey: a new password does not.`,
  }),
  'passkey-removed': (service) => ({
    subject: `A passkey was removed from your account at ${service.text}`,
    what: prose`A passkey was removed from your account at ${service}. Its device can no longer log in with it.`,
    otherwise: prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices:`,
  }),
  'passkey-copy-suspected': (service) => ({
    subject: `A passkey of your account at ${service.text} may have been copied`,
    what: prose`A security key of your account at ${service} counts how often it is used, and its last count is not above the one before. So there may be a second device with the same key. It happens, too, when the security key was reset or is faulty.`,
    ifItWasYou: prose`Log in, remove this passkey, and add a new one.`,
    otherwise: prose`If this was not your device, somebody else may have logged in with the copy. Reset the password, which logs out all devices:`,
  }),
  'second-factor-added': (service) => ({
    subject: `An authenticator app was added to your account at ${service.text}`,
    what: prose`An authenticator app was added to your account at ${service}. A log-in with the password now needs a code, too.`,
    otherwise: prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and remove the app: a new password does not. If you are asked for a code that you do not have, turn to the operator of the service.`,
  }),
  'second-factor-removed': (service) => ({
    subject: `An authenticator app was removed from your account at ${service.text}`,
    what: prose`An authenticator app was removed from your account at ${service}. If there is no other one, the password alone logs in again.`,
    otherwise: prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and add an authenticator app again:`,
  }),
  'recovery-code-used': (service) => ({
    subject: `A recovery code of your account at ${service.text} was used`,
    what: prose`A recovery code of your account at ${service} was used in place of an authenticator app. It does not work again.`,
    ifItWasYou: prose`If it was you, make new recovery codes before you run out of them.`,
    otherwise: prose`If it was not you, somebody else has your recovery codes and knows your password. Reset the password now, which logs out all devices. Then log in, and make new recovery codes:`,
  }),
  'recovery-codes-made': (service) => ({
    subject: `New recovery codes for your account at ${service.text}`,
    what: prose`Recovery codes were made for your account at ${service}. Each replaces the code of an authenticator app once. Earlier ones no longer work.`,
    otherwise: prose`If it was not you, somebody else has access to your account. Reset the password now, which logs out all devices. Then log in, and make new recovery codes: a new password does not replace them.`,
  }),
} as const satisfies Partial<Record<MessageKind, (service: ReturnType<typeof trusted>) => NoticeTexts>>;

/** @param validFor milliseconds. */
export const passwordReset = (
  context: MailContext,
  { link, validFor }: { readonly link: string; readonly validFor: number },
): MailText =>
  mailLayout(context, `Reset your password at ${context.serviceName}`, [
    prose`Somebody asked to reset the password of the account with this email address at ${trusted(context.serviceName)}. To choose a new password, open this link:`,
    { label: 'Choose a new password', link },
    prose`It is valid for ${trusted(durationText(validFor))}, and works once. A new password logs out all devices.`,
    prose`If it was not you, you can ignore this message: nothing has changed.`,
  ]);

/** What is left of the factors of a user. */
export type FactorsLeft = {
  /** Their names, which users choose. */
  readonly passkeys: readonly string[];
  /** How many authenticator apps have shown a code. */
  readonly apps: number;
};

export const passwordWasReset = (context: MailContext, happened: TimeAndDevice, left: FactorsLeft): MailText =>
  mailLayout(context, `Your password at ${context.serviceName} was reset`, [
    prose`The password of your account at ${trusted(context.serviceName)} was reset with a link that was sent to this email address. All devices were logged out.`,
    factsOf(happened),
    ...ifItWasYou(left),
    prose`If it was not you, somebody else can read your email. Change the password of your mailbox first. Then reset your password at ${trusted(context.serviceName)}:`,
    resetPage(context),
  ]);

/** An attacker may have added factors: they outlive a reset. */
const ifItWasYou = ({ passkeys, apps }: FactorsLeft) =>
  passkeys.length + apps === 0
    ? [NOTHING_TO_DO]
    : [
        prose`If it was you, see whether these are yours, since a new password does not remove them. If not, log in and remove them, or turn to the operator of the service.`,
        {
          facts: [
            ...passkeys.map((name) => ['Passkey', prose`"${name}"`] as const),
            ['Authenticator apps', prose`${trusted(String(apps))}`] as const,
          ],
        },
      ];
