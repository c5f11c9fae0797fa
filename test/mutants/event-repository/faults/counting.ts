import { setImmediate } from 'node:timers/promises';
import { type AccountEvent, COUNTING_PERIOD } from '../../../../src/domain/event.ts';
import { countedTogether, isCountedWith } from '../../memory/event-repository.ts';
import { ALL, addedTo, allIn, earlierIn, type Faults, rowsOf } from './fault.ts';

const REFUSED = 'adds refused log-ins of one hour to one event';
const LOGINS = 'adds log-ins on one device within an hour to one event';
const KNOWS = 'knows whether a user has logged in on a device';
const COUNTS = 'counts the events of a kind since a time';

const isOn = (event: AccountEvent, { userAgent, address }: Pick<AccountEvent, 'userAgent' | 'address'>): boolean =>
  event.userAgent === userAgent && event.address === address;
const device = ({ userAgent, address }: AccountEvent) => ({ userAgent, address });
const isLogin = ({ kind }: AccountEvent): boolean => kind === 'registered' || kind === 'logged-in';

/** Adds each event to an earlier one, if `earlier` finds one. */
const adding =
  (
    earlier: (events: readonly AccountEvent[], event: AccountEvent) => AccountEvent | undefined,
  ): Faults[string]['wrong'] =>
  (_correct, { tables }) => ({
    add: async (events) => {
      for (const event of events) {
        const first = earlier(allIn(tables), event);
        await setImmediate();
        rowsOf(tables).set(first?.id ?? event.id, first === undefined ? event : countedTogether(first, event));
      }
    },
  });

export const COUNTING: Faults = {
  'keeps each log-in as an event of its own': { wrong: adding(() => undefined), caughtBy: LOGINS },
  'counts the log-ins of an hour together, whatever the device': {
    wrong: adding((events, event) =>
      events.find((each) => event.kind === 'logged-in' && isCountedWith(each, { ...event, ...device(each) })),
    ),
    caughtBy: LOGINS,
  },
  'counts the log-ins on a device of all hours': {
    wrong: adding((events, event) =>
      events.find((each) => event.kind === 'logged-in' && isCountedWith(each, { ...event, at: each.at })),
    ),
    caughtBy: LOGINS,
  },
  'keeps the session of the first log-in': {
    wrong: ({ add }, { tables }) => ({
      add: async (events) => {
        for (const event of events) {
          const earlier = allIn(tables).find((each) => isCountedWith(each, event));
          await add([{ ...event, sessionId: earlier?.sessionId ?? event.sessionId }]);
        }
      },
    }),
    caughtBy: LOGINS,
  },
  'reads how often somebody has logged in, and then writes it': {
    wrong: adding((events, event) => events.find((each) => isCountedWith(each, event))),
    caughtBy: LOGINS,
  },
  'keeps the first refusals of an hour alone': {
    wrong: ({ addRefusedLogins }, { tables }) => ({
      addRefusedLogins: (refusals) =>
        addRefusedLogins(refusals.filter((refused) => earlierIn(tables, refused) === undefined)),
    }),
    caughtBy: REFUSED,
  },
  'lets an hour begin with its first refusal': {
    wrong: (_correct, { tables }) => ({
      addRefusedLogins: async (refusals) => {
        for (const refused of refusals) {
          const earlier = allIn(tables).find(
            ({ userId, kind, at }) =>
              userId === refused.userId && kind === 'login-refused' && refused.at - at < COUNTING_PERIOD,
          );
          const event = addedTo(earlier, refused);
          rowsOf(tables).set(event.id, event);
        }
      },
    }),
    caughtBy: REFUSED,
  },
  'keeps the device of the first refusals': {
    wrong: (_correct, { tables }) => ({
      addRefusedLogins: async (refusals) => {
        for (const refused of refusals) {
          const earlier = earlierIn(tables, refused);
          const { userAgent, address } = earlier ?? refused;
          const event = { ...addedTo(earlier, refused), userAgent, address };
          rowsOf(tables).set(event.id, event);
        }
      },
    }),
    caughtBy: REFUSED,
  },
  'reads how many log-ins were refused, and then writes it': {
    wrong: (_correct, { tables }) => ({
      addRefusedLogins: async (refusals) => {
        for (const refused of refusals) {
          const event = addedTo(earlierIn(tables, refused), refused);
          await setImmediate();
          rowsOf(tables).set(event.id, event);
        }
      },
    }),
    caughtBy: REFUSED,
  },
  'adds refused log-ins of users who do not exist any more': {
    wrong: (_correct, { tables }) => ({
      addRefusedLogins: async (refusals) => {
        for (const refused of refusals) {
          const event = addedTo(earlierIn(tables, refused), refused);
          rowsOf(tables).set(event.id, event);
        }
      },
    }),
    caughtBy: 'ignores refused log-ins of a user who does not exist any more',
  },
  'adds no refused log-ins when one of the users does not exist any more': {
    wrong: ({ addRefusedLogins }, { hasUser }) => ({
      addRefusedLogins: async (refusals) => {
        if (refusals.every(({ userId }) => hasUser(userId))) await addRefusedLogins(refusals);
      },
    }),
    caughtBy: 'ignores refused log-ins of a user who does not exist any more',
  },
  'knows every device of a user by its network': {
    wrong: ({ list }) => ({
      knowsDevice: async (userId, { address }) =>
        (await list({ userId, before: null, limit: ALL })).some((event) => isLogin(event) && event.address === address),
    }),
    caughtBy: KNOWS,
  },
  'takes a refused log-in for a log-in': {
    wrong: ({ list }) => ({
      knowsDevice: async (userId, device) =>
        (await list({ userId, before: null, limit: ALL })).some((event) => isOn(event, device)),
    }),
    caughtBy: KNOWS,
  },
  'knows no device that does not say what it is': {
    wrong: ({ knowsDevice }) => ({
      knowsDevice: async (userId, device) => device.userAgent !== null && knowsDevice(userId, device),
    }),
    caughtBy: KNOWS,
  },
  'knows the devices of everybody': {
    wrong: (_correct, { tables }) => ({
      knowsDevice: async (_userId, device) => allIn(tables).some((event) => isLogin(event) && isOn(event, device)),
    }),
    caughtBy: KNOWS,
  },
  'counts the events of all times': {
    wrong: ({ countSince }) => ({ countSince: (userId, kind) => countSince(userId, kind, 0) }),
    caughtBy: COUNTS,
  },
  'does not count the events of the time itself': {
    wrong: ({ countSince }) => ({ countSince: (userId, kind, since) => countSince(userId, kind, since + 1) }),
    caughtBy: COUNTS,
  },
  'counts the events of every kind': {
    wrong: ({ list }) => ({
      countSince: async (userId, _kind, since) =>
        (await list({ userId, before: null, limit: ALL })).filter(({ at }) => at >= since).length,
    }),
    caughtBy: COUNTS,
  },
};
