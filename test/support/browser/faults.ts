import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** A script that passes violations of the Content-Security-Policy to the test, by a function that no policy forbids. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  reportViolation(event.effectiveDirective + ' ' + event.blockedURI))`;

/** Records exceptions and violations of the Content-Security-Policy, from the next loaded page on. */
export const watchFaults = async (page: Page): Promise<string[]> => {
  const faults: string[] = [];
  await page.exposeFunction('reportViolation', (what: string) => faults.push(`violation: ${what}`));
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on('pageerror', (error) => faults.push(`exception: ${error.message}`));
  return faults;
};

/** The violations that axe-core finds, each as the rule and the elements. @param rules default: all rules */
export const axeFaultsOf = async (page: Page, rules?: readonly string[]): Promise<readonly string[]> => {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  // Without `preload`, by which a script would fetch the stylesheet: the policy forbids that.
  const options = JSON.stringify({ preload: false, ...(rules && { runOnly: rules }) });
  const { violations, passes } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`);
  if (!passes.some(({ id }) => id === 'color-contrast')) throw new Error('axe has not looked at colours');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`);
};
