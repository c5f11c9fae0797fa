import type { Device } from '../../domain/device.ts';
import { laidOut, type MailContext, type MailText, resetPage } from './layout.ts';
import { durationText, own, prose, timeText } from './prose.ts';

/** When something happened, and on which device. */
export type Happened = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly device: Device;
};

/** For the layout. The device names itself, and the network is one that we have seen. */
const factsOf = ({ at, device: { userAgent, address } }: Happened) => ({
  facts: [
    ['Time', prose`${own(timeText(at))}`],
    ['Device', userAgent === null ? prose`unknown` : prose`"${userAgent}"`],
    ['Network', prose`${own(address ?? 'unknown')}`],
  ] as const,
});

/** @param validFor milliseconds. */
export const passwordReset = (
  context: MailContext,
  { link, validFor }: { readonly link: string; readonly validFor: number },
): MailText =>
  laidOut(context, `Reset your password at ${context.serviceName}`, [
    prose`Somebody asked to reset the password of the account with this email address at ${own(context.serviceName)}. To choose a new password, open this link:`,
    { label: 'Choose a new password', link },
    prose`It is valid for ${own(durationText(validFor))}, and works once. A new password logs out all devices.`,
    prose`If it was not you, you can ignore this message: nothing has changed.`,
  ]);

export const passwordChanged = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `Your password at ${context.serviceName} was changed`, [
    prose`The password of your account at ${own(context.serviceName)} was changed.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password and has replaced it. Reset the password now, which logs out all devices:`,
    resetPage(context),
  ]);

export const passwordWasReset = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `Your password at ${context.serviceName} was reset`, [
    prose`The password of your account at ${own(context.serviceName)} was reset with a link that was sent to this email address. All devices were logged out.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else can read your email. Change the password of your mailbox first. Then reset your password at ${own(context.serviceName)}:`,
    resetPage(context),
  ]);

export const newDevice = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `A log-in on a new device at ${context.serviceName}`, [
    prose`Somebody logged in to your account at ${own(context.serviceName)} on a device that we have not seen before.`,
    factsOf(happened),
    prose`If it was you, you have nothing to do.`,
    prose`If it was not you, somebody else knows your password. Reset it now, which logs out all devices:`,
    resetPage(context),
  ]);

export const tokenReplayed = (context: MailContext, happened: Happened): MailText =>
  laidOut(context, `A session at ${context.serviceName} was ended for your protection`, [
    prose`A session of your account at ${own(context.serviceName)} was ended, because its token was used a second time. That happens when a connection was lost while the session was renewed, and when a token was copied from the device.`,
    factsOf(happened),
    prose`If this is your device and your connection was bad, or you restored a backup, log in again: you have nothing else to do.`,
    prose`If not, somebody else may have had access to the device or to its browser: check it for unknown programs and extensions, then reset your password, which logs out all devices:`,
    resetPage(context),
  ]);
