import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finishLogin } from '../../src/application/use-cases/finish-login.ts';
import { login } from '../../src/application/use-cases/login.ts';
import { confirmApp, removeApp, startApp } from '../../src/application/use-cases/manage-factors.ts';
import { stepUp } from '../../src/application/use-cases/step-up.ts';
import { assuranceOf } from '../../src/domain/assurance.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { ADA, application, MINUTE } from '../support/application.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { holds } from '../support/properties/properties.ts';

const OPERATIONS = [
  ...(['login', 'finish', 'finish-with-recovery-code', 'refresh', 'change-password', 'reset-password'] as const),
  ...(['enrol', 'remove', 'step-up', 'step-up-with-code', 'wait'] as const),
] as const;
type Operation = (typeof OPERATIONS)[number];

type Held = { readonly userId: string; readonly sessionId: string; readonly refreshToken: string };

/** Ada, who does one thing after the other, in any order. What the service refuses changes nothing for her. */
const play = async () => {
  const app = application();
  const deps = { ...app, notices: new Set<never>() };
  const { user, ...first } = await app.register(ADA);
  let password = ADA.password;
  let resets = 0;
  let held: Held = { userId: user.id, ...first };
  let pending: string[] = [];
  let recoveryCodes: string[] = [];
  const apps: { readonly id: string; readonly secret: string }[] = [];
  const caller = () => ({ userId: held.userId, sessionId: held.sessionId });
  const issuedAt = () => app.clock.now() / 1000;
  const code = () => codeAt(apps.at(-1)?.secret ?? 'A'.repeat(32), app.clock.now());
  const finish = async (factor: Parameters<ReturnType<typeof finishLogin>>[0]['factor']) => {
    const { opened } = await finishLogin(deps)({ pendingLogins: pending, factor });
    held = { userId: user.id, ...opened };
  };
  const step = (shown: { readonly password: string } | { readonly code: string }) =>
    stepUp(deps)({ ...caller(), tokenIssuedAt: issuedAt(), shown, presented: { proof: null } });
  const operations: Readonly<Record<Operation, () => Promise<unknown>>> = {
    login: async () => {
      const result = await login(deps)({ account: ADA.username, password });
      if ('pendingLogin' in result) pending = [result.pendingLogin, ...pending];
      else held = { userId: user.id, ...result };
    },
    finish: () => finish({ code: code() }),
    'finish-with-recovery-code': () => finish({ recoveryCode: recoveryCodes.pop() ?? 'none' }),
    refresh: async () => {
      held = { ...held, ...(await app.refresh([held.refreshToken])) };
    },
    'change-password': async () => {
      resets += 1;
      const newPassword = `another horse ${resets}`;
      const input = { ...caller(), tokenIssuedAt: issuedAt(), currentPassword: password, newPassword };
      const pair = await app.changePassword(input);
      password = newPassword;
      held = { ...held, ...pair };
    },
    'reset-password': async () => {
      resets += 1;
      password = `reset horse ${resets}`;
      const passwordHash = await app.hasher.hash(password);
      await app.users.setPasswordHash(user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
    },
    enrol: async () => {
      const started = await startApp(deps, app.factorSecrets)(caller());
      const first = codeAt(started.secret, app.clock.now());
      const codes = await confirmApp(deps)({ ...caller(), tokenIssuedAt: issuedAt(), id: started.id, code: first });
      apps.push(started);
      recoveryCodes = [...recoveryCodes, ...codes];
    },
    remove: async () => {
      const last = apps.at(-1);
      if (last === undefined) return;
      await removeApp(deps)(caller(), last.id);
      apps.pop();
      if (apps.length === 0) recoveryCodes = [];
    },
    'step-up': () => step({ password }),
    'step-up-with-code': () => step({ code: code() }),
    wait: async () => app.clock.advance(MINUTE),
  };
  return { app, userId: user.id, run: (operation: Operation) => operations[operation]() };
};

describe('the sessions of a user with a second factor', () => {
  // Proves: asvs-6.1.3, asvs-6.3.4, asvs-6.4.3, nist-1, nist-11, theft-7
  it('have shown it, in whatever order things happen', { timeout: 120_000 }, async () => {
    await holds(
      fc.asyncProperty(fc.array(fc.constantFrom(...OPERATIONS), { maxLength: 30 }), async (operations) => {
        const { app, userId, run } = await play();
        const known = new Set((await app.sessions.listByUser(userId, app.clock.now())).map(({ id }) => id));
        for (const operation of operations) {
          const before = await app.users.findById(userId);
          await run(operation).catch((error: unknown) => {
            if (!(error instanceof AppError) || error.status >= 500) throw error;
          });
          const sessions = await app.sessions.listByUser(userId, app.clock.now());
          const opened = sessions.filter(({ id }) => !known.has(id));
          for (const { id, amr } of opened) {
            known.add(id);
            if (before?.secondFactorAt !== null) expect([operation, assuranceOf(amr)]).toEqual([operation, 'aal2']);
          }
        }
        return true;
      }),
      { numRuns: 300 },
    );
  });
});
