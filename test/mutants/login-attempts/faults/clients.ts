import { deviceClient } from '../../../../src/domain/login-throttle.ts';
import { countIn, waitIn } from '../correct.ts';
import { asIf, type Faults, withNames } from './fault.ts';

export const PARTIES: Faults = {
  'counts each network separately': {
    wrong: asIf(({ key, client }) => ({ key: `${key} ${client.names.at(-1)}`, client })),
    caughtBy: 'makes networks without failures wait for each other',
  },
  'ignores groups of networks': {
    wrong: withNames((names) => names.slice(-1)),
    caughtBy: 'treats all networks of a group as one failing network when enough of them have failed',
  },
  'counts for the group of a network alone': {
    wrong: withNames((names) => [...names.slice(0, -1), `${names.at(-2)}/all`]),
    caughtBy: 'does not treat a network as failing because another one of its group is',
  },
  'treats a device as a network': {
    wrong: asIf(({ key, client: { names } }) => ({ key, client: { kind: 'network', names } })),
    caughtBy: 'admits three attempts of a device, however often the others fail',
  },
  'counts each device separately': {
    wrong: asIf(({ key, client }) =>
      client.kind === 'device' ? { key: `${key} ${client.names.at(-1)}`, client } : { key, client },
    ),
    caughtBy: 'limits the failures of any number of devices together',
  },
  'makes every network wait for one that fails': {
    wrong: withNames(() => ['anywhere']),
    caughtBy: 'admits a network without failures while another network waits',
  },
  'treats a network as failing from its second failure on': {
    wrong: ({ access, now }) => ({
      begin: (attempt) =>
        access((rows) => {
          const wait = waitIn(rows, attempt, now());
          if (wait === 0) for (let count = 0; count < 2; count += 1) countIn(rows, attempt, now());
          return wait;
        }),
    }),
    caughtBy: 'treats a network as failing from its third failure on',
  },
  'never treats a network as failing': {
    wrong: (_connection, correct) => {
      let count = 0;
      return {
        begin: ({ key, client: { kind, names } }) => {
          count += 1;
          return correct.begin({ key, client: { kind, names: names.map((name) => `${name} ${count}`) } });
        },
      };
    },
    caughtBy: 'treats a network as failing from its third failure on',
  },
  'gives all failing networks one slot': {
    wrong: withNames((names) => ['anywhere', 'anywhere', ...names.slice(-1)]),
    caughtBy: 'gives each failing network its own slots',
  },
  'gives all failing devices one slot': {
    wrong: asIf(({ key, client }) => ({ key, client: client.kind === 'device' ? deviceClient('any') : client })),
    caughtBy: 'gives each failing device its own slots',
  },
};
