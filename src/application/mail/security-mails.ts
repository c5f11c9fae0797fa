import { durationText, type MailContext, type MailText, mailLayout, prose, resetPage, trusted } from './layout.ts';
import { factsOf, NOTHING_TO_DO, type TimeAndDevice } from './notice-mails.ts';

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
