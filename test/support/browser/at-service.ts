import type { Page } from 'playwright-core';
import { aPerson } from '../http/service.ts';

/** What people do on the pages of the service that an application leads to. */

/** Fills in the form with a password, and sends it. */
const send = async (tab: Page, entries: Readonly<Record<string, string>>): Promise<void> => {
  for (const [name, value] of Object.entries(entries)) await tab.fill(`[name=${name}]`, value);
  await tab.locator('form:has([name=password]) button:not([type=button])').click();
};

/** Somebody who is at the log-in page registers instead. */
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

/** The visitor of the log-out page says yes. */
export const logOutAtService = async (tab: Page): Promise<void> => {
  await tab.waitForURL('**/auth/log-out?**');
  await tab.locator('form[action$="/auth/log-out"] button').click();
};
