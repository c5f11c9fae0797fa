import type { Device } from '../../domain/event.ts';
import {
  durationText,
  type MailContext,
  type MailText,
  mailLayout,
  prose,
  resetPage,
  timeText,
  trusted,
} from './layout.ts';

export type TimeAndDevice = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly device: Device;
};

/** The device and the network are shown to the owner. The client chose the user agent, so it is not trusted. */
export const factsOf = ({ at, device: { userAgent, address } }: TimeAndDevice) => ({
  facts: [
    ['Time', prose`${trusted(timeText(at))}`],
    ['Device', userAgent === null ? prose`unknown` : prose`"${userAgent}"`],
    ['Network', prose`${trusted(address ?? 'unknown')}`],
  ] as const,
});

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

export const passwordChanged = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `Your password at ${context.serviceName} was changed`, [
    prose`The password of your account at ${trusted(context.serviceName)} was changed.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password and has replaced it. Reset the password now, which logs out all devices:`,
    resetPage(context),
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
    ? [prose`If it was you, you have nothing to do.`]
    : [
        prose`If it was you, see whether these are yours, since a new password does not remove them. If not, log in and remove them, or turn to the operator of the service.`,
        {
          facts: [
            ...passkeys.map((name) => ['Passkey', prose`"${name}"`] as const),
            ['Authenticator apps', prose`${trusted(String(apps))}`] as const,
          ],
        },
      ];

export const newDevice = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A log-in on a new device at ${context.serviceName}`, [
    prose`Somebody logged in to your account at ${trusted(context.serviceName)} on a device that we have not seen before.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password. Reset it now, which logs out all devices:`,
    resetPage(context),
  ]);

export const deviceUnproven = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A request without your device was refused at ${context.serviceName}`, [
    prose`Somebody tried to renew a session of your account at ${trusted(context.serviceName)} without the key of the device that it was opened on. This was refused, and the session continues. It happens when the data of a website was deleted in the browser, and when a cookie was copied from the device.`,
    factsOf(happened),
    prose`If this is your device, log in again there: you have nothing else to do.`,
    prose`If not, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then reset your password, which logs out all devices:`,
    resetPage(context),
  ]);

export const tokenReplayed = (context: MailContext, happened: TimeAndDevice): MailText =>
  mailLayout(context, `A session at ${context.serviceName} was ended for your protection`, [
    prose`A session of your account at ${trusted(context.serviceName)} was ended, because its token was used a second time. That happens when a connection was lost while the session was renewed, and when a token was copied from the device.`,
    factsOf(happened),
    prose`If this is your device and your connection was bad, or you restored a backup, log in again: you have nothing else to do.`,
    prose`If not, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then reset your password, which logs out all devices:`,
    resetPage(context),
  ]);
