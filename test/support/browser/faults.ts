import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Reports to the test, which a policy of the page does not forbid. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  reportViolation(event.effectiveDirective + ' ' + event.blockedURI))`;

/** Notes exceptions, and what the Content-Security-Policy refuses, from the next page on. */
export const watchFaults = async (page: Page): Promise<string[]> => {
  const faults: string[] = [];
  await page.exposeFunction('reportViolation', (what: string) => faults.push(`violation: ${what}`));
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  return faults;
};

/** What axe finds: the rule and the elements. @param rules all of them, unless given */
export const axeFaultsOf = async (page: Page, rules?: readonly string[]): Promise<readonly string[]> => {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  // Preloading would fetch the stylesheet by script, which the policy forbids.
  const options = JSON.stringify({ preload: false, ...(rules && { runOnly: rules }) });
  const { violations, passes } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`);
  if (!passes.some(({ id }) => id === 'color-contrast')) throw new Error('axe has not looked at colours');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
};
