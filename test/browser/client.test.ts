import { beforeAll, describe, expect, it } from 'vitest';
import { canBrowse, launchChromium } from '../support/browser/chromium.ts';
import { changesIn, clientPage, renewIn, restoredIn } from '../support/browser/client-page.ts';
import { openSite } from '../support/browser/site.ts';
import { runAtEnd } from '../support/closing.ts';
import { aPerson } from '../support/http/service.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

describe.runIf(canBrowse())('the client, while the service is killed and started again', () => {
  const directory = temporaryDirectory();
  let launched: Awaited<ReturnType<typeof launchChromium>>;
  let app: Awaited<ReturnType<typeof openSite>>;
  beforeAll(async () => {
    launched = await launchChromium();
    app = await openSite('localhost');
    runAtEnd(launched.close);
  });

  it('stays logged in', async () => {
    const env = { DATA_DIR: directory.path, ALLOWED_ORIGINS_DEV: app.origin };
    let service = await runService(env);
    const { port } = new URL(service.url);
    const tab = await launched.browser.newPage();
    await tab.goto(app.publish(clientPage(`http://localhost:${port}`)));
    await restoredIn(tab);
    const person = aPerson();
    await tab.evaluate((given) => globalThis.page?.auth.register(given), person);
    await service.stop('SIGKILL');
    expect(await renewIn(tab).catch((error: Error) => error.message)).toMatch(/No response/);
    service = await runService({ ...env, PORT: port });
    expect(await renewIn(tab)).toBe(true);
    expect(await changesIn(tab)).toEqual(['login', 'refresh']);
    await tab.reload();
    expect(await restoredIn(tab)).toBe(person.username);
  });
});
