import type { Page } from 'playwright-core';
import { aPerson } from '../http/service.ts';

/** Acts of people on the pages of the service, to which an application has led them. */

/** Fills in and sends the form that has a field for the password. */
const send = async (tab: Page, entries: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, value] of Object.entries(entries)) await tab.fill(`[name=${name}]`, value);
  await tab.locator('form:has([name=password]) button:not([type=button])').click();
};

/** Follows the link of the log-in page to the registration, and registers a new person. */
export const registerAtService = async (tab: Page): Promise<ReturnType<typeof aPerson>> => {
  await tab.waitForURL('**/auth/log-in?**');
  await tab.locator('a[href*="/auth/register"]').click();
  await tab.waitForURL('**/auth/register?**');
  const person = aPerson();
  await send(tab, person);
  return person;
};

export const logInAtService = async (
  tab: Page,
  { username, password }: Pick<ReturnType<typeof aPerson>, 'username' | 'password'>,
): Promise<void> => {
  await tab.waitForURL('**/auth/log-in?**');
  await tab.fill('[name=account]', username);
  await tab.locator('form[data-form="log-in.account"] button').click();
  await send(tab, { password });
};

/** Confirms the log-out on its page. */
export const logOutAtService = async (tab: Page): Promise<void> => {
  await tab.waitForURL('**/auth/log-out?**');
  await tab.locator('form[action$="/auth/log-out"] button').click();
};
