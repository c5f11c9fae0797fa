import { beforeAll, describe, expect, it } from 'vitest';
import { registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { FRAMEWORKS, serveFrameworks } from '../support/browser/frameworks.ts';
import { openWorld } from '../support/browser/world.ts';
import { runAtEnd } from '../support/closing.ts';
import { freePort } from '../support/servers/free-port.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const port = await freePort();
const ORIGIN = `http://localhost:${port}`;

describe.runIf(canBrowse())('useAuth', () => {
  const { world, visit } = openWorld('localhost', { ALLOWED_ORIGINS_DEV: ORIGIN }, {}, { hasPages: true });
  const directory = temporaryDirectory();
  beforeAll(async () => runAtEnd((await serveFrameworks(directory.path, world().service, port)).close));

  describe.each(FRAMEWORKS)('in %s, in the component that is documented', (framework) => {
    const page = `${ORIGIN}/${framework}/`;

    it('leads to the pages of the service, and follows log-in and log-out, here and in another tab', async () => {
      const { open } = await visit();
      const [first, second] = [await open(page), await open(page)];
      for (const tab of [first, second]) await tab.getByRole('button', { name: 'Log in' }).waitFor();
      await first.getByRole('button', { name: 'Log in' }).click();
      const person = await registerAtService(first);
      const logOut = { name: `Log out ${person.username}` };
      for (const tab of [first, second]) await tab.getByRole('button', logOut).waitFor();
      await second.getByRole('button', logOut).click();
      for (const tab of [first, second]) await tab.getByRole('button', { name: 'Log in' }).waitFor();
    });

    it('shows that the user is not known until the session is restored', async () => {
      const { open, person, browser } = await visit();
      const tab = await open(page);
      await tab.evaluate(`auth.register(${JSON.stringify(person)})`);
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await browser.route('**/auth/refresh-token', async (route) => {
        await released;
        await route.continue();
      });
      await tab.reload();
      await tab.getByText('Loading…').waitFor();
      release();
      await tab.getByRole('button', { name: `Log out ${person.username}` }).waitFor();
      await browser.unroute('**/auth/refresh-token');
    });

    it('leaves no listener behind when the component is removed', async () => {
      const { open } = await visit();
      const tab = await open(page);
      await tab.getByRole('button', { name: 'Log in' }).waitFor();
      expect(await tab.evaluate('listeners()')).toBe(1);
      await tab.evaluate('remove()');
      await tab.waitForFunction('listeners() === 0');
    });
  });
});
